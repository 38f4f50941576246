import Foundation
import Glibc
import PhotoTestSupport
import Testing
import Varlink

/// The n-th call of a class fails, for n = 1, 2, 3, ... until no call fails (`PHOTOD_FAULTS=all`; `make test` tries
/// only some n of each class). photod must not crash, its answers must be true, and the library must recover. Each
/// armed fault must fire.
@Suite(.timeLimit(.minutes(240)), .enabled(if: FaultInjector.isAvailable, "cc is not installed"))
struct FaultTests {
  /// Calls on one part of the files and sockets that a program uses, with the errors with which they can fail.
  struct Target: Sendable, CustomTestStringConvertible {
    enum Part: String, Sendable { case photos, catalog, own, everything }
    var program = "photod"
    let call: FaultInjector.Call
    var part = Part.own
    let errors: [Int32]
    /// The strongest measure that the library may need to equal the disk again.
    var remedy = FaultScenario.Recovery.byItself
    /// Whether photod must report the failure while it lasts.
    var isSaid = true
    /// Whether photod also survives without a restart if all calls fail for a while.
    var isLastingOutlived = true
    /// Whether the journal is removed before each start, so that photod writes a new one and renames it.
    var startsWithoutJournal = false
    var testDescription: String { "\(program) \(call) \(part)" }
  }

  private static let isExhaustive = ProcessInfo.processInfo.environment["PHOTOD_FAULTS"] == "all"

  /// The targets whose description contains PHOTOD_FAULTS_TARGET, if that is set, for example `photod open everything`.
  private static func chosen(_ targets: [Target]) -> [Target] {
    guard let wanted = ProcessInfo.processInfo.environment["PHOTOD_FAULTS_TARGET"] else { return targets }
    return targets.filter { $0.testDescription.contains(wanted) }
  }

  // MARK: While it runs

  private static let catalogWrites: [Target] = [
    .init(call: .write, part: .catalog, errors: [ENOSPC, EIO, 0]),
    .init(call: .sync, part: .catalog, errors: [EIO, ENOSPC]),
  ]

  private static let targets =
    catalogWrites + [
      .init(call: .open, part: .photos, errors: [EMFILE, EIO, ENOMEM]),
      .init(call: .open, part: .catalog, errors: [EMFILE, EIO, ENOMEM]),
      .init(program: "photod-extract", call: .read, part: .photos, errors: [EIO, 0, ENOMEM]),
      .init(call: .read, part: .catalog, errors: [EIO, 0]),
      .init(call: .stat, part: .photos, errors: [EIO, ENOMEM]),
      .init(call: .stat, part: .catalog, errors: [EIO, ENOMEM]),
      // The client notices that its connection ended.
      .init(call: .socket, errors: [EPIPE, 0, ENOMEM], isSaid: false),
      .init(call: .pair, errors: [ENOMEM, 0]),
      .init(call: .accept, errors: [EMFILE, ENOMEM]),
      .init(program: "photod-watch", call: .open, part: .photos, errors: [EMFILE, EIO, ENOMEM]),
      .init(program: "photod-watch", call: .stat, part: .photos, errors: [EIO, ENOMEM]),
      .init(program: "photod-watch", call: .list, errors: [EIO, ENOMEM]),
      .init(program: "photod-watch", call: .watch, errors: [ENOSPC, ENOMEM]),
      .init(program: "photod-watch", call: .pair, errors: [ENOMEM, 0]),
      .init(program: "photod-watch", call: .unlink, errors: [EIO]),
    ]

  @Test(arguments: chosen(targets))
  func photodContinuesAfterOneFailedCall(target: Target) async throws {
    try await Self.withLibrary(target) { fixture, scenario, injector, below in
      let count = try await Self.count(target, scenario, injector, below)
      for number in Self.numbers(upTo: count) {
        for error in Self.errors(target.errors, number) {
          injector.arm(target.call, error: error, number...number, below: below)
          try await scenario.performChanges { injector.firedCount > 0 }
          let recovery = await scenario.recover()
          injector.disarm()
          let comment = "\(target.testDescription) \(number), errno \(error): \(injector.firstFailedCall)"
          try Self.requireFailure(injector, comment)
          Self.expect(recovery, target, comment)
          try await scenario.expectDiskState(comment)
          try #require(fixture.process?.isRunning == true, "\(comment)")
        }
      }
      fixture.kill(SIGTERM)
      #expect(fixture.process?.terminationReason == .exit && fixture.process?.terminationStatus == 0)
    }
  }

  /// From one call on, all calls fail for a while: a full disk, a removed drive, an exhausted limit.
  @Test(arguments: chosen(targets.filter { $0.remedy <= .byItself && $0.isLastingOutlived }))
  func lastingFailureIsReportedAndEnds(target: Target) async throws {
    try await Self.withLibrary(target) { fixture, scenario, injector, below in
      let count = try await Self.count(target, scenario, injector, below)
      for number in Self.isExhaustive ? Self.numbers(upTo: count) : [UInt64(1)] {
        for error in Self.errors(target.errors.filter { $0 != 0 }, number) {
          let comment = "\(target.testDescription) from \(number) on, errno \(error)"
          let said = try fixture.logText().utf8.count
          injector.arm(target.call, error: error, number ... .max, below: below)
          scenario.errorsAnswered = []
          try await scenario.performChanges { injector.firedCount > 0 }
          try Self.requireFailure(injector, comment)
          let warnings = try await Self.warnings(fixture, logFrom: said, answered: scenario.errorsAnswered)
          // With a later first call, only one look may fail, which has no consequence. Or the same message was logged
          // less than a minute before.
          let mustBeSaid = target.isSaid && (number == 1 || ![.stat, .accept].contains(target.call))
          if mustBeSaid { #expect(!warnings.isEmpty, "\(comment): no warning about \(injector.firstFailedCall)") }
          injector.disarm()
          if Self.isExhaustive { print("\(comment): \(warnings)") }
          Self.expect(await scenario.recover(), target, comment)
          try await scenario.expectDiskState(comment)
          try #require(fixture.process?.isRunning == true, "\(comment)")
          // photod-watch requests a refused watch again after ten seconds.
          _ = try await within(.seconds(30)) { try await fixture.status(where: \.warnings.isEmpty) }
        }
      }
    }
  }

  /// A change that failed is not there, and an acknowledged one is, even after a crash.
  @Test(arguments: chosen(catalogWrites))
  func acknowledgedChangeSurvivesAKill(target: Target) async throws {
    try await Self.withLibrary(target) { fixture, scenario, injector, below in
      let count = try await Self.count(target, scenario, injector, below)
      for number in Self.numbers(upTo: count) {
        for error in Self.errors(target.errors, number) {
          let comment = "\(target.testDescription) \(number), errno \(error), then killed"
          injector.arm(target.call, error: error, number...number, below: below)
          try await scenario.performChanges { injector.firedCount > 0 }
          fixture.kill(SIGKILL)
          injector.disarm()
          try Self.requireFailure(injector, comment)
          try await fixture.start()
          Self.expect(await scenario.recover(), target, comment)
          try await scenario.expectDiskState(comment)
        }
      }
    }
  }

  // MARK: Folders that can't be read for a while

  /// A folder is renamed, or renamed into a new folder. For a second, neither can be opened or looked at. Its photos
  /// must keep their ids.
  @Test(arguments: [(FaultInjector.Call.open, EIO), (.open, EMFILE), (.stat, EIO), (.open, EACCES)])
  func photosOfARenamedFolderThatCannotBeReadKeepTheirIds(call: FaultInjector.Call, error: Int32) async throws {
    try await Self.withLibrary(.init(program: "photod-watch", call: call, errors: [])) {
      fixture, scenario, injector, _ in
      injector.arm(call, error: error, 1 ... .max, below: fixture.path("b/d"))
      try fixture.move("b/d-0", "b/d-9")
      scenario.noteMove("b/d-0/x.jpg", "b/d-9/x.jpg")
      _ = try await fixture.status { $0.warnings.contains { $0.contains("d-9") } }
      injector.disarm()
      // The permission never changed in truth, so no event reports that the folder is readable again.
      if error == EACCES { #expect(chmod(fixture.path("b/d-9"), 0o755) == 0) }
      Self.expect(await scenario.recover(), .init(call: call, errors: []), "renamed")
      try await scenario.expectDiskState("renamed")
      _ = try await fixture.status(where: \.warnings.isEmpty)

      guard error != EACCES else { return }
      injector.arm(call, error: error, 1 ... .max, below: fixture.path("b/e"))
      try #require(mkdir(fixture.path("b/e"), 0o755) == 0)
      try fixture.move("b/d-9", "b/e/d")
      scenario.noteMove("b/d-9/x.jpg", "b/e/d/x.jpg")
      _ = try await fixture.status { $0.warnings.contains { $0.contains("b/e") } }
      injector.disarm()
      Self.expect(await scenario.recover(), .init(call: call, errors: []), "renamed into a new one")
      try await scenario.expectDiskState("renamed into a new one")
      _ = try await fixture.status(where: \.warnings.isEmpty)
    }
  }

  // MARK: While it starts and stops

  private static let startTargets: [Target] =
    [
      .init(call: .open, errors: [EMFILE, EACCES]), .init(call: .read, errors: [EIO, 0]),
      .init(call: .stat, errors: [EIO]), .init(call: .write, errors: [ENOSPC, EIO, 0]),
      .init(call: .sync, errors: [EIO]), .init(call: .map, errors: [ENOMEM]), .init(call: .lock, errors: [ENOLCK]),
      .init(call: .rename, errors: [EIO], startsWithoutJournal: true), .init(call: .unlink, errors: [EACCES]),
      .init(call: .spawn, errors: [ENOMEM]),
    ].flatMap { (target: Target) in
      // First with calls on photod's own files, then with all calls from exec(2) on.
      var everything = target
      everything.part = .everything
      return [target, everything]
    } + [
      .init(program: "photod-watch", call: .open, part: .everything, errors: [EMFILE]),
      .init(program: "photod-watch", call: .stat, part: .everything, errors: [EIO]),
      .init(program: "photod-watch", call: .list, part: .everything, errors: [EIO]),
      .init(program: "photod-watch", call: .watch, part: .everything, errors: [ENOSPC]),
    ]

  @Test(arguments: chosen(startTargets))
  func failureAtStartEndsOrIsExplained(target: Target) async throws {
    try await Self.withLibrary(target) { fixture, scenario, injector, below in
      for number in Self.isExhaustive ? Array(1...5_000) : [1, 2, 4, 9, 20, 45] {
        let error = target.errors[number % target.errors.count]
        fixture.kill(number % 2 == 0 ? SIGTERM : SIGKILL)
        if target.startsWithoutJournal { try #require(unlink(fixture.directory + "/catalog.userdata") == 0) }
        let said = try fixture.logText().utf8.count
        injector.arm(target.call, error: error, UInt64(number)...UInt64(number), below: below)
        let comment = "\(target.testDescription) \(number), errno \(error)"
        if try await !Self.starts(fixture) {
          let text = String(decoding: try fixture.logText().utf8.dropFirst(said), as: UTF8.self)
          #expect(fixture.process?.terminationReason == .exit, "\(comment): \(text)")
          #expect([71, 73, 74, 78].contains(fixture.process?.terminationStatus ?? 0), "\(comment): \(text)")
          #expect(text.contains("photod: "), "\(comment)")
          if Self.isExhaustive { print("\(comment), \(injector.firstFailedCall): \(text)") }
          injector.disarm()
          try await fixture.start()
        }
        Self.expect(await scenario.recover(), target, "\(comment): \(injector.firstFailedCall)")
        do {
          try await scenario.expectDiskState(comment)
        } catch VarlinkClientError.connectionClosed where injector.firedCount > 0 {
          // The failed call may be that of the test's own connection. It fails only once.
          try await scenario.expectDiskState(comment)
        }
        fixture.kill(SIGTERM)
        #expect(fixture.process?.terminationReason == .exit, "\(comment): \(injector.firstFailedCall)")
        injector.disarm()
        let hasStruck = injector.firedCount > 0
        try #require(hasStruck || number > 1, "\(comment): no such call is made")
        // The program makes fewer than `number` such calls, so all of them were tried.
        guard hasStruck else { break }
        try await fixture.start()
      }
    }
  }

  /// - Returns: false if photod ended instead.
  private static func starts(_ fixture: DaemonFixture) async throws -> Bool {
    do {
      try await fixture.start()
      return true
    } catch is VarlinkError {
      // photod answered with an error, so it runs.
      return true
    } catch {
      guard let process = fixture.process else { throw error }
      try await eventually("photod ends, for it does not answer: \(error)", within: .seconds(5)) { !process.isRunning }
      return false
    }
  }

  // MARK: Parts

  private static func withLibrary(
    _ target: Target, _ body: (DaemonFixture, FaultScenario, FaultInjector, _ below: String) async throws -> Void
  ) async throws {
    try await DaemonFixture.with { fixture in
      let injector = try FaultInjector(directory: fixture.directory, program: target.program)
      fixture.environment = try injector.environment
      // photod-watch creates its sync cookies in this directory.
      if target.program == "photod-watch" { fixture.environment["TMPDIR"] = fixture.directory }
      let scenario = try FaultScenario(fixture)
      try await fixture.start()
      #expect(await scenario.recover().0 == .atOnce)
      try await scenario.expectDiskState("before any fault")
      let below =
        switch target.part {
        case .photos: fixture.photos
        // This includes the journal.
        case .catalog: fixture.directory + "/catalog."
        case .own: fixture.directory
        case .everything: ""
        }
      try await body(fixture, scenario, injector, below)
      if ProcessInfo.processInfo.environment["PHOTOD_FAULTS_LOG"] != nil { print(try fixture.logText()) }
      injector.disarm()
      // This also ends photod-watch, whose files are in this directory.
      fixture.kill(SIGTERM)
    }
  }

  /// The number of such calls in one turn of the scenario.
  private static func count(
    _ target: Target, _ scenario: FaultScenario, _ injector: FaultInjector, _ below: String
  ) async throws -> Int {
    injector.arm(target.call, error: EIO, .max ... .max, below: below)
    try await scenario.performChanges()
    #expect(await scenario.recover().0 == .atOnce)
    injector.disarm()
    try await scenario.expectDiskState("while counting")
    try #require(injector.callCount > 0, "\(target.testDescription): no such call is made")
    return injector.callCount
  }

  /// A fault that never fires tests nothing.
  private static func requireFailure(_ injector: FaultInjector, _ comment: String) throws {
    try #require(injector.firedCount > 0, "\(comment): the fault did not strike")
  }

  private static func numbers(upTo count: Int) -> [UInt64] {
    let all = (1...UInt64(count))
    guard !isExhaustive, count > 4 else { return Array(all) }
    return [1, 1 + all.upperBound / 3, 1 + 2 * all.upperBound / 3, all.upperBound]
  }

  private static func errors(_ errors: [Int32], _ number: UInt64) -> [Int32] {
    isExhaustive ? errors : [errors[Int(number) % errors.count]]
  }

  private static func expect(
    _ recovery: (FaultScenario.Recovery, warnings: [String]), _ target: Target, _ comment: String
  ) {
    #expect(recovery.0 <= target.remedy, "\(comment): \(recovery.0); \(recovery.warnings)")
    if isExhaustive, recovery.0 > .atOnce { print("\(comment): \(recovery.0) \(recovery.warnings)") }
  }

  /// The failure as it is reported in the status or at least in the log. If it is in neither, the errors that clients
  /// received, because the log counts a repeated error and reports it only from time to time.
  private static func warnings(
    _ fixture: DaemonFixture, logFrom: Int, answered: [String]
  ) async throws -> [String] {
    var found: [String] = []
    do {
      try await eventually("something is reported", within: .seconds(5), every: .milliseconds(50)) {
        found = try await warningsNow(fixture, logFrom: logFrom, answered: answered)
        return !found.isEmpty
      }
    } catch is ConditionNotMet {
      return []
    }
    return found
  }

  private static func warningsNow(
    _ fixture: DaemonFixture, logFrom: Int, answered: [String]
  ) async throws -> [String] {
    let log = String(decoding: try fixture.logText().utf8.dropFirst(logFrom), as: UTF8.self)
    let lines = log.split(separator: "\n").filter { line in
      ["warning", "error", "critical"].contains { line.contains(" \($0)") }
    }
    if !lines.isEmpty { return lines.map(String.init) }
    do {
      let status = try await within(.seconds(5)) { try await fixture.status() }
      if !status.warnings.isEmpty { return status.warnings }
      // `Explain` reports the errno of each file.
      if status.failedCount > 0 { return ["\(status.failedCount) files can't be read"] }
    } catch {
      // The status itself may fail. Then only the log and the clients' errors remain.
    }
    return answered
  }
}
