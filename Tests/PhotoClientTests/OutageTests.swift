import Foundation
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

/// Calls of an app while photod ends, and another one starts.
@Suite(.timeLimit(.minutes(10))) struct OutageTests {
  private static let stopping = VarlinkError(
    "org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))

  /// Runs a body with a library that waits for photod as one that has been reached before.
  private func withLibrary(_ body: (PhotoLibrary, _ directory: String) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock", patience: .seconds(300))
      library.hasBeenReached.store(true, ordering: .relaxed)
      try await body(library, directory)
    }
  }

  @Test func changesWaitUntilPhotodIsBack() async throws {
    try await withLibrary { library, directory in
      let performed = Task { try await library.performChanges { $0.edit([7]) { $0.isFavorite = true } } }
      let answer: ScriptedDaemon.Answer = { call in
        let request = try call.parameters(PerformChangesRequest.self)
        #expect(request.requests.map(\.editAsset?.ids) == [[7]])
        try await call.reply(ChangeResult(token: "l.1.2", createdCollectionIDs: []))
      }
      try await ScriptedDaemon.with(["PerformChanges": answer], in: directory) { daemon in
        let token = try await performed.value.token
        #expect(token == "l.1.2")
        #expect(daemon.calls == ["PerformChanges"])
      }
    }
  }

  /// The changes may have been made, so they are not sent again.
  @Test func changesWhoseReplyIsLostAreNotRepeated() async throws {
    try await withLibrary { library, directory in
      let performed = Mutex<Task<PerformedChanges, any Error>?>(nil)
      let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
      let answer: ScriptedDaemon.Answer = { _ in
        arrival.yield()
        try await Task.sleep(for: .seconds(3_600))
      }
      try await ScriptedDaemon.with(["PerformChanges": answer], in: directory) { _ in
        let task = Task { try await library.performChanges { $0.edit([7]) { $0.isFavorite = true } } }
        performed.withLock { $0 = task }
        for await _ in arrivals { break }
      }
      try await ScriptedDaemon.with([:], in: directory) { daemon in
        let task = try #require(performed.withLock { $0 })
        await #expect(throws: PhotoLibraryError.changeOutcomeUnknown) { _ = try await task.value }
        #expect(daemon.calls == [])
      }
    }
  }

  @Test func accessIsRequestedAgain() async throws {
    try await withLibrary { library, directory in
      let request = Task { try await library.requestAuthorization(for: .readWrite) }
      try await ScriptedDaemon.with(["RequestAuthorization": { _ in throw Self.stopping }], in: directory) { daemon in
        while daemon.calls.isEmpty { await Task.yield() }
      }
      let answer: ScriptedDaemon.Answer = { try await $0.reply(AuthorizationReply(status: .authorized)) }
      try await ScriptedDaemon.with(["RequestAuthorization": answer], in: directory) { _ in
        let status = try await request.value
        #expect(status == .authorized)
      }
    }
  }

  @Test func historyContinuesBehindTheLastPage() async throws {
    func page(_ numbers: ClosedRange<Int>) -> HistoryPage {
      HistoryPage(
        changes: numbers.map {
          PersistentChange(token: "l.1.\($0)", date: PhotoDate(microseconds: 0), origin: "watcher")
        }, token: "l.1.\(numbers.upperBound)")
    }
    let first = page(2...3)
    let second = page(4...5)
    try await withLibrary { library, directory in
      let tokens = Task {
        try await library.fetchPersistentChanges(since: "l.1.1").reduce(into: []) { $0.append($1.token) }
      }
      let interrupted: ScriptedDaemon.Answer = { call in
        #expect(try call.parameters(HistoryRequest.self).since == "l.1.1")
        try await call.replyContinuing(first)
        throw Self.stopping
      }
      try await ScriptedDaemon.with(["FetchPersistentChanges": interrupted], in: directory) { daemon in
        while daemon.calls.isEmpty { await Task.yield() }
      }
      let rest: ScriptedDaemon.Answer = { call in
        #expect(try call.parameters(HistoryRequest.self).since == "l.1.3")
        try await call.reply(second)
      }
      try await ScriptedDaemon.with(["FetchPersistentChanges": rest], in: directory) { _ in
        let all = try await tokens.value
        #expect(all == ["l.1.2", "l.1.3", "l.1.4", "l.1.5"])
      }
    }
  }

  /// The sequence that follows the history waits for photod each time, and reports each outage.
  @Test func followedHistoryContinuesBehindTheLastPage() async throws {
    func page(_ numbers: [Int], end: Int) -> HistoryPage {
      HistoryPage(
        changes: numbers.map {
          PersistentChange(token: "l.1.\($0)", date: PhotoDate(microseconds: 0), origin: "watcher")
        }, token: "l.1.\(end)")
    }
    /// The pages of each call by its token. After them, photod stops.
    let answers = ["l.1.1": [page([2, 3], end: 3), page([], end: 4)], "l.1.4": [page([5], end: 5)], "l.1.5": []]
    try await withTemporaryDirectory { directory in
      // This library does not wait for photod, and has never reached it.
      let library = PhotoLibrary(socketPath: directory + "/photod.sock", patience: .zero)
      let problems = Mutex<[PhotoLibraryError]>([])
      let following = Task {
        var tokens: [String] = []
        var changes = library.followPersistentChanges(since: "l.1.1") { problem in
          problems.withLock { $0.append(problem) }
        }
        .makeAsyncIterator()
        await #expect(
          throws: PhotoLibraryError.changeTokenExpired(message: "It is too old.", currentToken: "l.2.1")
        ) {
          while let change = try await changes.next() { tokens.append(change.token) }
        }
        let next = try await changes.next()
        #expect(next == nil)
        return tokens
      }
      try await eventually("photod is missed") { problems.withLock { !$0.isEmpty } }
      let calls = Mutex<[String]>([])
      let answer: ScriptedDaemon.Answer = { call in
        let request = try call.parameters(HistoryRequest.self)
        #expect(request.follow == true)
        let since = try #require(request.since)
        let isSecond = calls.withLock { calls in
          defer { calls.append(since) }
          return calls.contains(since)
        }
        if isSecond {
          throw VarlinkError(
            "org.photod.library.ChangeTokenExpired", TokenError(message: "It is too old.", currentToken: "l.2.1"))
        }
        for page in try #require(answers[since]) { try await call.replyContinuing(page) }
        throw Self.stopping
      }
      try await ScriptedDaemon.with(["FetchPersistentChanges": answer], in: directory) { _ in
        let tokens = try await following.value
        #expect(tokens == ["l.1.2", "l.1.3", "l.1.5"])
      }
      #expect(calls.withLock { $0 } == ["l.1.1", "l.1.4", "l.1.5", "l.1.5"])
      let reported = problems.withLock { $0 }
      #expect(reported.suffix(3) == Array(repeating: .libraryUnavailable(message: "photod is stopping."), count: 3))
      #expect(reported.allSatisfy { Reconnection.isOutage($0) })
    }
  }

  @Test func bytesContinueBehindThoseThatCame() async throws {
    func page(_ text: String, at offset: Int64) -> ReadResourceReply {
      ReadResourceReply(offset: offset, data: Data(text.utf8).base64EncodedString(), total: 6, revision: "1")
    }
    let (first, second) = (page("abcd", at: 0), page("ef", at: 4))
    let resource = AssetResource.resources(for: .withOneFile)[0]
    try await withLibrary { library, directory in
      let text = Task {
        String(decoding: try await AssetResourceManager(of: library).data(for: resource), as: UTF8.self)
      }
      let interrupted: ScriptedDaemon.Answer = { call in
        try await call.replyContinuing(first)
        throw Self.stopping
      }
      try await ScriptedDaemon.with(["ReadResource": interrupted], in: directory) { daemon in
        while daemon.calls.isEmpty { await Task.yield() }
      }
      let rest: ScriptedDaemon.Answer = { call in
        let request = try call.parameters(ReadResourceRequest.self)
        #expect(request.offset == 4 && request.ifRevision == "1")
        try await call.reply(second)
      }
      try await ScriptedDaemon.with(["ReadResource": rest], in: directory) { _ in
        let whole = try await text.value
        #expect(whole == "abcdef")
      }
    }
  }

  /// The file has changed, so its asset is fetched before the second reading. photod stops between the two calls.
  @Test func theAssetOfAChangedFileIsFetchedWhenPhotodIsBack() async throws {
    let asset = Asset.withOneFile
    let readings = Mutex(0)
    let fetches = Mutex(0)
    let answers: [String: ScriptedDaemon.Answer] = [
      "ReadResource": { call in
        let isFirst = readings.withLock { count in
          count += 1
          return count == 1
        }
        if isFirst { throw VarlinkError("org.photod.images.ResourceChanged", MessageError(message: "It changed.")) }
        let data = Data("abcdef".utf8).base64EncodedString()
        try await call.reply(ReadResourceReply(offset: 0, data: data, total: 6, revision: "1"))
      },
      "GetAssets": { call in
        let isFirst = fetches.withLock { count in
          count += 1
          return count == 1
        }
        if isFirst { throw Self.stopping }
        try await call.reply(GetAssetsReply(token: "l.1.1", assets: [asset], missing: []))
      },
    ]
    try await withLibrary { library, directory in
      try await ScriptedDaemon.with(answers, in: directory) { daemon in
        let bytes = try await AssetResourceManager(of: library).data(for: AssetResource.resources(for: asset)[0])
        #expect(String(decoding: bytes, as: UTF8.self) == "abcdef")
        #expect(daemon.calls == ["ReadResource", "GetAssets", "GetAssets", "ReadResource"])
      }
    }
  }
}

extension Asset {
  fileprivate static var withOneFile: Asset {
    let date = PhotoDate(microseconds: 0)
    return Asset(
      id: 7, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date,
      revision: "1",
      resources: [
        Resource(kind: .photo, path: "/p/a.jpg", filename: "a.jpg", byteCount: 6, contentType: "image/jpeg")
      ])
  }
}
