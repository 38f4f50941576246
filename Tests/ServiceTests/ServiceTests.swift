import PhotoTestSupport
import Testing

/// photod as systemd's user manager has it: units as installed, a real manager, a real journal.
///
/// All of it is one run of `Tests/Scripts/service/run`, which takes half a minute; each of its checks is a case here.
@Suite(.timeLimit(.minutes(10))) struct ServiceTests {
  @Test(
    .enabled(if: UserManagerRun.obstacle == nil, "\(UserManagerRun.obstacle ?? "")"), arguments: UserManagerRun.names)
  func holdsUnderAUserManager(check: String) async throws {
    let run = try await UserManagerRun.shared.value
    let result = try #require(run.results[check], "the run ended before it:\n\(run.output.suffix(4000))")
    if !result.isOK { Issue.record("\(check):\n\(result.steps)") }
  }
}
