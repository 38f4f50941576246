import Glibc
import Logging
import Testing

@testable import PhotoDaemon
@testable import Varlink

/// The number of connections depends on the number of files that the process may open.
struct ConnectionLimitTests {
  @Test(arguments: [(524_288, 2_048), (4_224, 2_048), (1_024, 448), (130, 1), (0, 1), (.max, 2_048)])
  func fewFilesAreFewConnections(files: Int, connections: Int) {
    let limits = VarlinkService.Limits.leavingFiles(of: files)
    #expect(limits.maximumConnections == connections)
    #expect(limits.maximumConnectionsOfProcess == max(1, connections / 2))
  }

  /// A degraded photod and the stand-in during an upgrade have no limits of their own.
  @Test func aServiceLeavesFilesByDefault() {
    var before = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #expect(getrlimit(resource, &before) == 0)
    // Other tests run beside this one, so the lower limit is still one that they do not reach.
    var lower = before
    lower.rlim_cur = min(before.rlim_cur, 4_096)
    #expect(setrlimit(resource, &lower) == 0)
    defer { setrlimit(resource, &before) }
    let service = VarlinkService.photod([], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    #expect(service.limits == .leavingFiles())
    #expect(service.limits.maximumConnections < VarlinkService.Limits().maximumConnections)
  }
}
