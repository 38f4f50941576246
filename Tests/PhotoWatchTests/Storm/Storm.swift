// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import Synchronization

/// Changes of all kinds to one tree by several threads at once, each with its own seed.
///
/// They use mkdir -p, create small files, and remove and rename files and directories. They move directories out of the
/// tree and into it, and remove and recreate a subtree.
struct Storm: Sendable {
  var root: String
  var outside: String

  /// - Returns: the number of operations. It varies, because the threads race.
  @discardableResult
  func run(seconds: Double, threads: Int, seed: UInt64) async -> Int {
    await withTaskGroup(of: Int.self) { group in
      for thread in 0..<threads {
        group.addTask {
          await withCheckedContinuation { continuation in
            Disk.onThread {
              continuation.resume(returning: work(seconds: seconds, seed: seed &* 1000 &+ UInt64(thread)))
            }
          }
        }
      }
      return await group.reduce(0, +)
    }
  }

  /// Like `run`, while `meanwhile` is repeated again and again.
  func run(
    seconds: Double, threads: Int, seed: UInt64, isolation: isolated (any Actor)? = #isolation,
    meanwhile: () async throws -> Void
  ) async rethrows -> Int {
    let isOver = Atomic<Bool>(false)
    async let operations = {
      let count = await run(seconds: seconds, threads: threads, seed: seed)
      isOver.store(true, ordering: .relaxed)
      return count
    }()
    while !isOver.load(ordering: .relaxed) { try await meanwhile() }
    return await operations
  }

  private func work(seconds: Double, seed: UInt64) -> Int {
    var random = SeededGenerator(seed: seed)
    let end = ContinuousClock.now + .seconds(seconds)
    var count = 0
    while ContinuousClock.now < end {
      step(&random)
      count += 1
    }
    return count
  }

  private func step(_ random: inout SeededGenerator) {
    func name() -> String { "d\(Int.random(in: 0..<8, using: &random))" }
    func file() -> String { "f\(Int.random(in: 0..<10, using: &random)).jpg" }
    func linked() -> String { "l\(Int.random(in: 0..<5, using: &random)).jpg" }
    func directory() -> String {
      var path = root
      for _ in 0..<Int.random(in: 0...4, using: &random) { path += "/" + name() }
      return path
    }
    func content() -> String { String(repeating: "x", count: Int.random(in: 1...64, using: &random)) }
    func randomOutsidePath() -> String { outside + "/x\(Int.random(in: 0...30, using: &random))" }

    switch Double.random(in: 0..<1, using: &random) {
    case ..<0.15: Disk.makeDirectories("\(directory())/\(name())/\(name())/\(name())")
    case ..<0.25:
      let path = "\(directory())/\(name())"
      Disk.makeDirectories(path)
      for _ in 0..<3 { Disk.write("\(path)/\(file())", content()) }
    case ..<0.48: Disk.write("\(directory())/\(file())", content())
    case ..<0.50:  // an atomic save
      let path = directory()
      if Disk.write("\(path)/.save.tmp", content()) { rename("\(path)/.save.tmp", "\(path)/\(file())") }
    case ..<0.58: unlink("\(directory())/\(file())")
    case ..<0.59:
      // Only files that are never written in place get hard links, because inotify reports a write for the used name
      // alone.
      let path = directory()
      if Disk.write("\(path)/.link.tmp", content()) {
        link("\(path)/.link.tmp", "\(path)/\(linked())")
        unlink("\(path)/.link.tmp")
      }
    case ..<0.60: link("\(directory())/\(linked())", "\(directory())/\(linked())")
    case ..<0.605: unlink("\(directory())/\(linked())")
    case ..<0.61: rename("\(directory())/\(linked())", "\(directory())/\(linked())")
    case ..<0.70: rename("\(directory())/\(file())", "\(directory())/\(file())")
    case ..<0.85: rename("\(directory())/\(name())", "\(directory())/\(name())")
    case ..<0.90: rename("\(directory())/\(name())", randomOutsidePath())
    case ..<0.95: rename(randomOutsidePath(), "\(directory())/\(name())")
    case ..<0.96: Disk.removeTree("\(directory())/\(name())")
    case ..<0.965:
      let path = "\(directory())/\(name())"
      Disk.removeTree(path)
      Disk.makeDirectories(path)
      Disk.write("\(path)/re.jpg", content())
    case ..<0.97: rename("\(directory())/\(file())", "\(outside)/\(file())")
    case ..<0.975: rename("\(outside)/\(file())", "\(directory())/\(file())")
    default: break
    }
  }
}

extension Disk {
  /// Blocking work must not use the threads of Swift's pool.
  static func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Box(body)).toOpaque()
    let number = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, context)
    precondition(number == 0, "no thread")
    pthread_detach(thread)
  }
}
