import Foundation
import PhotoContract
import PhotoModel
import Testing
import Varlink

@testable import PhotoClient

/// A cancelled task gets nothing more, also if it has arrived already.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
  /// Takes one element in a task, cancels this task, and expects that it gets no other one.
  ///
  /// - Parameter arrival: returns when further elements have arrived.
  private func expectNothingMore<Elements: AsyncSequence & Sendable>(
    of elements: Elements, arrival: @escaping @Sendable () async throws -> Void = {}
  ) async {
    let task = Task {
      var iterator = elements.makeAsyncIterator()
      let hasFirst = try await iterator.next() != nil
      #expect(hasFirst)
      try await arrival()
      withUnsafeCurrentTask { $0?.cancel() }
      return try await iterator.next() != nil
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }

  private struct FoundAssets: Encodable { let token = "l.1.1", ids: [AssetID] }

  /// Runs a body beside a daemon that sends these pages one after another and keeps the stream open.
  ///
  /// - Parameter body: gets a function that returns when the pages have arrived in the client.
  private func withPages<Page: Encodable & Sendable>(
    of method: String, _ pages: [Page],
    _ body: @Sendable (PhotoLibrary, _ arrival: @escaping @Sendable () async throws -> Void) async throws -> Void
  ) async throws {
    let sent = PendingValue<Void>()
    try await ScriptedDaemon.with([
      method: { call in
        for page in pages { try await call.replyContinuing(page) }
        try await call.drained()
        sent.resolve(.success(()))
        // The call ends when the client hangs up.
        try await Task.sleep(for: .seconds(600))
      },
      "FindAssets": { try await $0.reply(FoundAssets(ids: [1])) },
    ]) { daemon in
      let library = daemon.library()
      try await body(library) {
        try await sent.value()
        // All connections of a process have one thread. It has read the pages before it reads this reply.
        _ = try await library.findAssets(paths: ["/a"])
      }
    }
  }

  @Test func pagesOfAStreamThatHaveArrivedAreNotGiven() async throws {
    let pages = (1...3).map { HistoryPage(changes: [], token: "l.1.\($0)") }
    try await withPages(of: "FetchPersistentChanges", pages) { library, arrival in
      await expectNothingMore(of: library.persistentChanges(since: "l.1.0", follow: true), arrival: arrival)
    }
  }

  @Test func bytesOfAFileThatHaveArrivedAreNotGiven() async throws {
    let date = PhotoDate(microseconds: 0)
    let asset = Asset(
      id: 7, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date,
      revision: "1",
      resources: [
        Resource(kind: .photo, path: "/p/a.jpg", filename: "a.jpg", byteCount: 10, contentType: "image/jpeg")
      ])
    let resource = AssetResource.resources(for: asset)[0]
    let pages = [(0, "abcd"), (4, "efgh"), (8, "ij")].map { offset, text in
      ReadResourceReply(offset: offset, data: Data(text.utf8).base64EncodedString(), total: 10, revision: "1")
    }
    try await withPages(of: "ReadResource", pages) { library, arrival in
      await expectNothingMore(of: AssetResourceManager(of: library).requestData(for: resource), arrival: arrival)
    }
  }

  @Test func commitsOfALoadedPageAreNotGiven() async throws {
    let changes = (1...3).map {
      PersistentChange(token: "l.1.\($0)", date: PhotoDate(microseconds: 0), origin: "watcher")
    }
    let answer: ScriptedDaemon.Answer = { try await $0.reply(HistoryPage(changes: changes, token: "l.1.3")) }
    try await ScriptedDaemon.with(["FetchPersistentChanges": answer]) { daemon in
      await expectNothingMore(of: daemon.library().fetchPersistentChanges(since: "l.1.0"))
    }
  }

  @Test func loadedAssetsAreNotGiven() async throws {
    try await ScriptedDaemon.with(ScriptedList([1, 2, 3]).answers) { daemon in
      await expectNothingMore(of: try await daemon.library().fetchAssets().enumerate())
    }
  }
}
