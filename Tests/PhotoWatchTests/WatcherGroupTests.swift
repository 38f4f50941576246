// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoWatch

/// Two roots, one of them on a share by the mount table. Each photod-watch is real, and is suspended to make it hang.
@Suite struct WatcherGroupTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  /// The inputs of all lanes so far.
  private actor Said {
    private var inputs: [Int: [WatchInput]] = [:]
    private var waiting: [(lane: Int, condition: @Sendable (WatchInput) -> Bool, CheckedContinuation<Void, Never>)] = []

    func note(_ input: WatchInput, of lane: Int) {
      inputs[lane, default: []].append(input)
      for waiter in waiting where waiter.lane == lane && waiter.condition(input) { waiter.2.resume() }
      waiting.removeAll { $0.lane == lane && $0.condition(input) }
    }

    /// Returns when a lane has sent an input that satisfies the condition, before or after the call.
    func wait(for lane: Int, _ condition: @escaping @Sendable (WatchInput) -> Bool) async {
      if inputs[lane, default: []].contains(where: condition) { return }
      await withCheckedContinuation { waiting.append((lane, condition, $0)) }
    }

    func records(of lane: Int) -> [WatchRecord] {
      inputs[lane, default: []].reduce(into: []) { records, input in
        if case .batch(let batch) = input { records += batch }
      }
    }
  }

  private static func holds(_ record: WatchRecord) -> @Sendable (WatchInput) -> Bool {
    { if case .batch(let records) = $0 { records.contains(record) } else { false } }
  }

  /// A group whose root 2 is on a share, by its mount table.
  private func withGroup(_ body: (WatcherGroup, Said) async throws -> Void) async throws {
    await InotifyPlaces.shared.enter()
    defer { InotifyPlaces.shared.leave() }
    let share = disk.path("share")
    let table = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / \(share) rw - nfs4 server:/x rw\n"
    let group = WatcherGroup(
      configuration: .init(
        roots: [], extensions: [Array("jpg".utf8)], executable: BuiltPrograms.path("photod-watch"),
        longestSilence: .seconds(13)),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, mountTable: { MountTable(table.utf8) })
    let said = Said()
    let reading = Task {
      await withTaskGroup(of: Void.self) { tasks in
        for await lane in group.lanes {
          tasks.addTask { while let input = await lane.nextInput() { await said.note(input, of: lane.number) } }
        }
      }
    }
    group.setRoots([
      WatchRoot(number: 1, path: Array(disk.path("local").utf8)), WatchRoot(number: 2, path: Array(share.utf8)),
    ])
    try group.start()
    try await body(group, said)
    await group.stop()
    await reading.value
  }

  @Test(.timeLimit(.minutes(10))) func shareThatDoesNotAnswerKeepsNobodyWaiting() async throws {
    disk.write("local/a.jpg")
    disk.write("share/b.jpg")
    try await withGroup { group, said in
      let lanes = group.sync(number: 1)
      #expect(lanes == [0, 1])
      for lane in lanes { await said.wait(for: lane, Self.holds(.synced(number: 1))) }
      let found = await said.records(of: 0) + said.records(of: 1)
      let directories = found.compactMap { record -> DirectoryNumber? in
        if case .directoryFound(let number, _, _, _, _) = record { number } else { nil }
      }
      #expect(Set(directories).count == directories.count)

      let process = try #require(group.watchProcessID(ofRoot: 2))
      #expect(group.watchProcessID(ofRoot: 1) != process)
      kill(process, SIGSTOP)
      let request = group.rescan(root: 2, directory: nil)
      #expect(group.sync(number: 2) == lanes)
      disk.write("local/c.jpg")
      await said.wait(for: 0, Self.holds(.synced(number: 2)))
      // A silence of thirteen seconds passes before it counts as hanging. The test needs this time.
      await said.wait(for: 1, Self.holds(.rootOffline(root: 2, errorNumber: ETIMEDOUT)))
      await said.wait(for: 1, Self.holds(.synced(number: 2)))
      await said.wait(for: 1, Self.holds(.scanEnded(root: 2, request: request, complete: false)))

      // The next photod-watch answers, so the share is back.
      await said.wait(for: 1) { if case .started(let session) = $0 { session > 1 } else { false } }
      disk.write("share/d.jpg")
      _ = group.sync(number: 3)
      await said.wait(for: 1, Self.holds(.synced(number: 3)))
      let names = await said.records(of: 1).compactMap { record -> [UInt8]? in
        if case .fileFound(_, let name, _, _) = record { name } else { nil }
      }
      #expect(names.contains(Array("d.jpg".utf8)))
    }
  }

  @Test(.timeLimit(.minutes(10))) func aShareThatIsRemovedIsReleasedWhenItsProcessesHaveEnded() async throws {
    disk.write("local/a.jpg")
    disk.write("share/b.jpg")
    try await withGroup { group, _ in
      weak var released: ShareFileWorker?
      do {
        guard case .share(let files) = group.access(to: Array(disk.path("share/b.jpg").utf8)) else {
          Issue.record("the roots are not told apart")
          return
        }
        released = files
      }
      // Its descriptors are closed with it.
      try await eventually("it is released at a later change of the roots") {
        group.setRoots([WatchRoot(number: 1, path: Array(disk.path("local").utf8))])
        return released == nil
      }
    }
  }

  @Test(.timeLimit(.minutes(10))) func filesOfAShareAreReadByItsOwnProcess() async throws {
    disk.write("local/a.jpg")
    disk.write("share/b.jpg")
    Disk.write(disk.path("share/long.jpg"), String(repeating: "0123456789", count: 20_000))
    try await withGroup { group, _ in
      func access(_ name: String) -> FileAccess { group.access(to: Array(disk.path(name).utf8)) }
      guard case .direct = access("local/a.jpg"), case .share(let files) = access("share/b.jpg") else {
        Issue.record("the roots are not told apart")
        return
      }
      let long = Array(disk.path("share/long.jpg").utf8)
      let answer = try #require(files.ask(.look(path: long)))
      #expect(answer.errorNumber == 0 && answer.stat.byteCount == 200_000 && answer.mode & S_IFMT == S_IFREG)
      #expect(answer.stat.identity.inode == (try Disk.inode(disk.path("share/long.jpg"))))
      let piece = try #require(files.ask(.read(path: long, offset: 199_995, count: 100)))
      #expect(piece.bytes == Array("56789".utf8) && piece.stat == answer.stat)
      #expect(files.ask(.look(path: Array(disk.path("share/none").utf8)))?.errorNumber == ENOENT)
      #expect(files.ask(.read(path: Array(disk.path("share").utf8), offset: 0, count: 1))?.bytes == [])
      #expect(files.answers)

      let process = try #require(files.processID)
      kill(process, SIGSTOP)
      let began = ContinuousClock.now
      #expect(files.ask(.look(path: long)) == nil)
      #expect(ContinuousClock.now - began < .seconds(4))
      // No caller waits a second time.
      let again = ContinuousClock.now
      for _ in 0..<100 { #expect(files.ask(.look(path: long)) == nil) }
      #expect(ContinuousClock.now - again < .seconds(1))
      kill(process, SIGCONT)
      try await eventually("the process answers again") { files.ask(.look(path: long)) != nil }
      // The path is of no root any more, and the mount table says that it is on a share.
      group.setRoots([WatchRoot(number: 1, path: Array(disk.path("local").utf8))])
      guard case .none = access("share/b.jpg") else {
        Issue.record("a share without a root is looked at")
        return
      }
    }
  }
}
