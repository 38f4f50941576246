import Testing
import Varlink

@testable import PhotoDaemon

/// The number of connections depends on the number of files that the process may open.
struct ConnectionLimitTests {
  @Test(arguments: [(524_288, 2_048), (4_224, 2_048), (1_024, 448), (130, 1), (0, 1), (.max, 2_048)])
  func fewFilesAreFewConnections(files: Int, connections: Int) {
    let limits = VarlinkService.Limits.leavingFiles(of: files)
    #expect(limits.maximumConnections == connections)
    #expect(limits.maximumConnectionsOfProcess == max(1, connections / 2))
  }
}
