// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords
import WorkerProcess

@testable import PhotoWatch

/// Two roots, one of them on a share by the mount table. Each photod-watch is real, and is suspended to make it hang.
@Suite(.timeLimit(.minutes(10))) struct WatcherGroupTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  /// The inputs of all lanes so far.
  private actor ReceivedRecords {
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
  private func withGroup(_ body: (WatcherGroup, ReceivedRecords) async throws -> Void) async throws {
    await InotifyPlaces.shared.enter()
    defer { InotifyPlaces.shared.leave() }
    let share = disk.path("share")
    let table = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / \(share) rw - nfs4 server:/x rw\n"
    let group = WatcherGroup(
      configuration: .init(
        roots: [], extensions: [Array("jpg".utf8)], executable: BuiltPrograms.path("photod-watch"),
        longestSilence: .seconds(13)),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, mountTable: { MountTable(table.utf8) },
      slots: ProcessSlots())
    let said = ReceivedRecords()
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

  @Test(.timeLimit(.minutes(10))) func shareThatDoesNotAnswerDelaysNoCall() async throws {
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

  /// Lists a folder whose names do not fit into one answer.
  private func checkListing(by files: ShareFileWorker) throws {
    let names = (0..<1_000).map { "\($0)-" + String(repeating: "n", count: 240) }
    for name in names { disk.write("share/many/\(name)") }
    disk.makeDirectory("share/many/folder")
    let folder = Array(disk.path("share/many").utf8)
    var (entries, answerCount): ([FolderEntry], Int) = ([], 0)
    while true {
      let answer = try #require(files.ask(.list(path: folder, position: UInt64(entries.count))))
      #expect(answer.errorNumber == 0 && answer.bytes.count <= FileAnswer.maximumBytes)
      let more = try FolderEntry.all(in: answer.bytes)
      if more.isEmpty { break }
      entries += more
      answerCount += 1
    }
    #expect(answerCount > 1)
    #expect(Set(entries.map(\.name)) == Set((names + ["folder"]).map { Array($0.utf8) }) && entries.count == 1_001)
    #expect(entries.filter { $0.type == UInt8(DT_DIR) }.map(\.name) == [Array("folder".utf8)])
    #expect(files.ask(.list(path: folder, position: 5))?.errorNumber == ESTALE)
    #expect(files.ask(.list(path: folder + Array("/none".utf8), position: 0))?.errorNumber == ENOENT)
  }

  @Test(.timeLimit(.minutes(10)), arguments: [(String(repeating: "n", count: 255), 17), ("d", 3000)])
  func filesOfAShareAreReadHoweverLongTheirPathIs(name: String, count: Int) async throws {
    disk.write("local/a.jpg")
    disk.makeDirectory("share")
    var path = Array(disk.path("share").utf8)
    var folder = open(disk.path("share"), O_RDONLY | O_DIRECTORY)
    for _ in 0..<count {
      try #require(mkdirat(folder, name, 0o755) == 0)
      let next = openat(folder, name, O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = next
      path += Array("/\(name)".utf8)
    }
    let file = openat(folder, "a.jpg", O_WRONLY | O_CREAT, 0o644)
    try #require(write(file, "hello", 5) == 5)
    close(file)
    close(folder)
    // rm(1) walks in pieces.
    defer { _ = system("rm -rf '\(disk.path("share"))'") }
    try await withGroup { group, _ in
      guard case .share(let files) = group.access(to: path) else {
        Issue.record("the share is not known")
        return
      }
      let photo = path + Array("/a.jpg".utf8)
      let look = try #require(files.ask(.look(path: photo)))
      #expect(look.errorNumber == 0 && look.stat.byteCount == 5)
      #expect(files.ask(.read(path: photo, offset: 1, count: 3))?.bytes == Array("ell".utf8))
      #expect(files.ask(.look(path: path + Array("/b.jpg".utf8)))?.errorNumber == ENOENT)
      #expect(files.ask(.read(path: path + Array("/b.jpg".utf8), offset: 0, count: 3))?.errorNumber == ENOENT)
    }
  }

  @Test(.timeLimit(.minutes(10))) func aPathThatNoCallCanHoldIsAnsweredWithAnError() async throws {
    disk.write("local/a.jpg")
    disk.makeDirectory("share")
    try await withGroup { group, _ in
      let path = Array(disk.path("share").utf8) + Array(String(repeating: "/d", count: 40_000).utf8)
      guard case .share(let files) = group.access(to: path) else {
        Issue.record("the share is not known")
        return
      }
      #expect(files.ask(.look(path: path))?.errorNumber == ENAMETOOLONG)
      #expect(files.ask(.read(path: path, offset: 0, count: 3))?.errorNumber == ENAMETOOLONG)
      #expect(files.answers)
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
      try checkListing(by: files)

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

  /// A library that can't be opened ends the processes that were started for it. A thread that can't wait does it.
  @Test func endSoonEndsEveryProcess() async throws {
    disk.makeDirectory("local")
    disk.makeDirectory("share")
    try await withGroup { group, said in
      await said.wait(for: 0) { if case .batch = $0 { true } else { false } }
      await said.wait(for: 1) { if case .batch = $0 { true } else { false } }
      let processes = [group.watchProcessID(ofRoot: 1), group.watchProcessID(ofRoot: 2)].compactMap { $0 }
      #expect(processes.count == 2)
      group.endSoon()
      for process in processes {
        try await eventually("photod-watch \(process) ends") { kill(process, 0) != 0 && errno == ESRCH }
      }
    }
  }
}
