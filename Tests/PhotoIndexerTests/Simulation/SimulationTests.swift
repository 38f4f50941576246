import Foundation
import PhotoCatalog
import Testing

@testable import PhotoIndexer

/// Runs the library against random disks, watchers and failures that a seed determines.
///
/// `PHOTOD_SIMULATION_SEEDS=10000` runs that many seeds and prints its progress, beginning with
/// `PHOTOD_SIMULATION_FIRST=1`. `PHOTOD_SIMULATION_SEED=7` runs one seed and prints its steps.
@Suite struct SimulationTests {
  @Test func libraryEqualsTheDiskWhateverHappens() async throws {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["PHOTOD_SIMULATION_SEED"].flatMap(UInt64.init) {
      let outcome = try await SimulationRun.play(seed: seed)
      if let failure = outcome.failure { try await SimulationRun.report(seed, failure, outcome.steps) }
      return
    }
    let count = environment["PHOTOD_SIMULATION_SEEDS"].flatMap(UInt64.init) ?? 500
    let first = environment["PHOTOD_SIMULATION_FIRST"].flatMap(UInt64.init) ?? 1
    let begun = ContinuousClock.now
    let (failed, judgements) = try await SimulationRun.playAll(first..<first + count)
    print("\(count) seeds in \(ContinuousClock.now - begun), \(failed.count) failed: \(failed.map(\.seed).prefix(40))")
    print("judged: \(judgements)")
    for (seed, failure, _) in failed.prefix(40) { print("seed \(seed): \(failure)") }
    for (seed, failure, steps) in failed.prefix(4) { try await SimulationRun.report(seed, failure, steps) }
    // If steps or exceptions of the laws change, the laws must still judge something. 300 seeds had about twice as much
    // of each, and three times as many photos on another file system.
    guard count >= 100 else { return }
    let hundreds = Int(count / 100)
    #expect(judgements.touched >= 100 * hundreds, "\(judgements)")
    #expect(judgements.carried >= hundreds, "\(judgements)")
    #expect(judgements.returned >= 3 * hundreds, "\(judgements)")
    #expect(judgements.resumed >= 200 * hundreds, "\(judgements)")
  }

  @Test(arguments: [3, 17] as [UInt64]) func oneSeedIsOneSequenceOfSteps(seed: UInt64) async throws {
    let first = try await SimulationRun.play(seed: seed, keepsTrace: true)
    let second = try await SimulationRun.play(seed: seed, keepsTrace: true)
    let different = zip(first.trace, second.trace).first { $0 != $1 }
    #expect(different == nil && first.trace.count == second.trace.count)
  }
}

/// Plays seeds and scripts, and shrinks failing ones.
enum SimulationRun {
  struct Outcome {
    var steps: [SimulatedStep] = []
    var failure: String?
    var trace: [String] = []
    var judgements = SimulationOracle.Judgements()
  }

  static let length = 70

  /// An empty catalog, made once.
  private static let template: Result<String, any Error> = Result {
    let path = SimulationFiles.folder + "/photod-simulation-\(getpid()).sqlite"
    try Catalog(path: path, bootID: "boot 0").close()
    return path
  }

  /// Chooses steps and plays them.
  static func play(seed: UInt64, keepsTrace: Bool = false) async throws -> Outcome {
    var chance = SimulatedChance(seed: seed)
    let simulation = try Simulation(kinds: chance.kinds(), template: try template.get(), keepsTrace: keepsTrace)
    var outcome = Outcome()
    var waiting = chance.beginning()
    do {
      while outcome.steps.count < length || !waiting.isEmpty {
        if waiting.isEmpty { waiting = chance.next(simulation.disk) }
        guard !waiting.isEmpty else { continue }
        let step = waiting.removeFirst()
        outcome.steps.append(step)
        try await simulation.run(step)
      }
      for step in ending {
        outcome.steps.append(step)
        try await simulation.run(step)
      }
    } catch {
      outcome.failure = "\(error)"
    }
    outcome.trace = simulation.trace
    outcome.judgements = simulation.judgements
    await simulation.close()
    return outcome
  }

  /// Checks the state at the end, and then again with every drive mounted.
  private static let ending: [SimulatedStep] = [
    .settle, .unmount("/usb"), .mount(1, at: "/usb"), .roots(["/pics", "/usb"]), .ignore([]), .overflow,
    .settle,
  ]

  /// Plays the steps of a script.
  static func play(_ steps: [SimulatedStep], kindsOf seed: UInt64, keepsTrace: Bool = false) async throws -> Outcome {
    var chance = SimulatedChance(seed: seed)
    return try await play(steps, kinds: chance.kinds(), keepsTrace: keepsTrace)
  }

  static func play(
    _ steps: [SimulatedStep], kinds: (main: SimulatedDisk.Kind, usb: SimulatedDisk.Kind), keepsTrace: Bool = false
  ) async throws -> Outcome {
    let simulation = try Simulation(kinds: kinds, template: try template.get(), keepsTrace: keepsTrace)
    var outcome = Outcome(steps: steps)
    do {
      for step in steps { try await simulation.run(step) }
    } catch {
      outcome.failure = "\(error)"
    }
    outcome.trace = simulation.trace
    await simulation.close()
    return outcome
  }

  /// Plays the seeds and returns those that failed, in order. Each seed is independent, so several run at a time.
  static func playAll(_ seeds: Range<UInt64>) async throws -> (
    failed: [(seed: UInt64, failure: String, steps: [SimulatedStep])], judgements: SimulationOracle.Judgements
  ) {
    try await withThrowingTaskGroup(of: (UInt64, Outcome).self) { group in
      var next = seeds.lowerBound
      func add() {
        guard next < seeds.upperBound else { return }
        let seed = next
        next += 1
        group.addTask { (seed, try await play(seed: seed)) }
      }
      for _ in 0..<max(2, ProcessInfo.processInfo.activeProcessorCount) { add() }
      var failed: [(seed: UInt64, failure: String, steps: [SimulatedStep])] = []
      var judgements = SimulationOracle.Judgements()
      var count = 0
      for try await (seed, outcome) in group {
        count += 1
        judgements += outcome.judgements
        if seeds.count > 500, count.isMultiple(of: 500) { print("\(count) seeds, \(failed.count) failed") }
        if let failure = outcome.failure { failed.append((seed, failure, outcome.steps)) }
        add()
      }
      return (failed.sorted { $0.seed < $1.seed }, judgements)
    }
  }

  /// Returns the few steps that still fail, as lines for a test.
  static func report(_ seed: UInt64, _ failure: String, _ steps: [SimulatedStep]) async throws {
    let (short, said) = try await shrink(steps, seed: seed, failure: failure)
    var chance = SimulatedChance(seed: seed)
    let kinds = chance.kinds()
    let script = short.map { "      \($0),\n" }.joined()
    let trace = try await play(short, kindsOf: seed, keepsTrace: true).trace.joined(separator: "\n")
    Issue.record(
      """
      Seed \(seed): \(said)
      PHOTOD_SIMULATION_SEED=\(seed) swift test --filter SimulationTests replays it all; what is needed of it:
          try await expectPasses(main: .\(kinds.main.rawValue), usb: .\(kinds.usb.rawValue), [
      \(script)    ])
      \(trace)
      """)
  }

  /// Leaves out unnecessary steps by delta debugging (https://doi.org/10.1109/32.988498).
  private static func shrink(_ steps: [SimulatedStep], seed: UInt64, failure: String) async throws -> (
    [SimulatedStep], String
  ) {
    var steps = steps
    var said = failure
    let kind = Self.kind(failure)
    var size = max(1, steps.count / 2)
    var runs = 0
    while size >= 1 {
      var start = 0
      var isShorter = false
      while start < steps.count, runs < 1500 {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + size, steps.count))
        runs += 1
        if let failure = try await play(shorter, kindsOf: seed).failure, Self.kind(failure) == kind {
          steps = shorter
          said = failure
          isShorter = true
        } else {
          start += size
        }
      }
      if !isShorter || size > 1 { size /= 2 }
    }
    return (steps, said)
  }

  /// The failure without paths and numbers. Shrinking must not end at another failure.
  private static func kind(_ failure: String) -> String {
    String(
      failure.split(separator: " ").filter { word in word.allSatisfy { $0.isLetter || $0 == "," } }.joined(
        separator: " "
      )
      .prefix(60))
  }
}

/// A script that must hold, as a failing seed prints it.
func expectPasses(
  main: SimulatedDisk.Kind = .ext4, usb: SimulatedDisk.Kind = .ext4, _ steps: [SimulatedStep],
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let outcome = try await SimulationRun.play(steps, kinds: (main, usb), keepsTrace: true)
  if let failure = outcome.failure {
    Issue.record("\(failure)\n\(outcome.trace.joined(separator: "\n"))", sourceLocation: sourceLocation)
  }
}
