import Testing
import Varlink

@testable import PhotoDaemon

/// As many connections as there are files for.
struct ConnectionLimitTests {
  @Test(arguments: [(524_288, 2_048), (4_224, 2_048), (1_024, 448), (130, 1), (0, 1), (.max, 2_048)])
  func fewFilesAreFewConnections(files: Int, connections: Int) {
    let limits = VarlinkService.Limits.leavingFiles(of: files)
    #expect(limits.maximumConnections == connections)
    #expect(limits.maximumConnectionsOfProcess == max(1, connections / 2))
  }
}
