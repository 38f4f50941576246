import Foundation
import PhotoClient
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// Requests with handlers, over a scripted service that answers each request as the test says.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ImageHandlerTests {
  /// The service: it answers a request at once, or never.
  private final class Service: Sendable {
    private struct State {
      var requested: [ImageRequest] = []
      var cancelled: Set<Int64> = []
    }

    private let state = Mutex(State())
    private let results = AsyncStream.makeStream(of: [ImageResult].self)
    private let answer: @Sendable (ImageRequest) -> [ImageResult]

    init(_ answer: @escaping @Sendable (ImageRequest) -> [ImageResult]) { self.answer = answer }

    var requestedCount: Int { state.withLock { $0.requested.count } }
    var cancelled: Set<Int64> { state.withLock { $0.cancelled } }

    var answers: [String: ScriptedDaemon.Answer] {
      [
        "OpenSession": { call in
          try await call.replyContinuing(OpenSessionReply(session: "s", results: []))
          for await results in self.results.stream {
            try await call.replyContinuing(OpenSessionReply(session: "s", results: results))
          }
        },
        "RequestImages": { call in
          let requests = try call.parameters(RequestImagesRequest.self).requests
          self.state.withLock { $0.requested += requests }
          try await call.reply(VarlinkEmpty())
          self.results.continuation.yield(requests.flatMap(self.answer))
        },
        "CancelRequests": { call in
          let ids = try call.parameters(CancelRequestsRequest.self).ids ?? []
          self.state.withLock { $0.cancelled.formUnion(ids) }
          try await call.reply(CancelRequestsReply(cancelled: ids))
        },
      ]
    }
  }

  private nonisolated static func result(_ id: Int64, isFinal: Bool = true) -> ImageResult {
    ImageResult(
      requestID: id, isFinal: isFinal,
      image: ImageDescription(
        data: "eA==", contentType: "image/jpeg", width: 10, height: 20, byteCount: 1, isDegraded: !isFinal,
        revision: "r"))
  }

  private let size = ImageSize(width: 256, height: 128)

  @Test func handlersComeAfterTheCallReturnedAndOnceForTheFinalPicture() async throws {
    let service = Service { [Self.result($0.id, isFinal: false), Self.result($0.id)] }
    try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
      let images = ImageManager(of: daemon.library())
      var results: [ImageRequestID: [Bool]] = [:]
      var isReturned: Set<Int> = []
      for number in 0..<200 {
        var id: ImageRequestID?
        id = images.requestImage(for: AssetID(rawValue: Int64(number)), targetSize: size) { result in
          MainActor.assertIsolated()
          #expect(isReturned.contains(number))
          guard let id, case .success(let image) = result else {
            Issue.record("\(result)")
            return
          }
          results[id, default: []].append(image.isFinal)
        }
        // The caller may do anything before it awaits.
        isReturned.insert(number)
      }
      try await eventuallyOnMainActor("all final pictures came") { results.values.count { $0.last == true } == 200 }
      #expect(results.values.allSatisfy { $0 == [false, true] })
    }
  }

  @Test func anErrorComesOnce() async throws {
    let service = Service { request in
      [ImageResult(requestID: request.id, isFinal: true, failure: ImageFailure(kind: .tooLarge, message: "Too large."))]
    }
    try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
      let images = ImageManager(of: daemon.library())
      var failures: [PhotoLibraryError] = []
      images.requestImage(for: 7, targetSize: size) { if case .failure(let error) = $0 { failures.append(error) } }
      // Its results follow those of the first request.
      _ = await #expect(throws: PhotoLibraryError.self) { try await images.image(for: 8, targetSize: nil) }
      try await eventuallyOnMainActor("the error came") { !failures.isEmpty }
      #expect(failures == [.noImage(kind: .tooLarge, message: "Too large.")])
    }
  }

  @Test func noHandlerIsCalledAfterItsRequestIsCancelled() async throws {
    let service = Service { $0.id % 3 == 0 ? [] : [Self.result($0.id, isFinal: false), Self.result($0.id)] }
    try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
      let images = ImageManager(of: daemon.library())
      var cancelled: Set<ImageRequestID> = []
      var late = 0
      var generator = SeededGenerator(seed: 5)
      var open: [ImageRequestID] = []
      var finals = 0
      for number in 1...1_000 {
        var id: ImageRequestID?
        id = images.requestImage(for: AssetID(rawValue: Int64(number)), targetSize: size) { result in
          if id.map(cancelled.contains) ?? true { late += 1 }
          if case .success(let image) = result, image.isFinal { finals += 1 }
        }
        if let id { open.append(id) }
        // Some are cancelled at once, others while their pictures come.
        if generator.once(in: 2), let index = open.indices.randomElement(using: &generator) {
          let chosen = open.remove(at: index)
          images.cancelImageRequest(chosen)
          cancelled.insert(chosen)
        }
        if generator.once(in: 10) { await Task.yield() }
      }
      for id in open.suffix(100) {
        images.cancelImageRequest(id)
        images.cancelImageRequest(id)
        cancelled.insert(id)
      }
      // A request after all others has its picture after theirs.
      _ = try await images.image(for: 1_001, targetSize: size)
      #expect(late == 0)
      #expect(cancelled.count > 300 && finals > 0)
    }
  }

  @Test func cancellingAHandlerCancelsTheRequestInPhotod() async throws {
    let service = Service { _ in [] }
    try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
      let images = ImageManager(of: daemon.library())
      let id = images.requestImage(for: 7, targetSize: size) { Issue.record("\($0)") }
      try await eventuallyOnMainActor("the request has come") { service.requestedCount == 1 }
      images.cancelImageRequest(id)
      try await eventuallyOnMainActor("it is cancelled") { service.cancelled == [1] }
      images.cancelImageRequest(id)
    }
  }

  /// The handler closes the manager when it gets the degraded picture. The final one has arrived, too.
  @Test func aPictureThatWaitsIsNotDeliveredAfterTheManagerWasClosed() async throws {
    for _ in 0..<5 {
      let service = Service { [Self.result($0.id, isFinal: false), Self.result($0.id)] }
      try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
        let images = ImageManager(of: daemon.library())
        var shown: [Bool] = []
        images.requestImage(for: asset(7), targetSize: size) { result in
          if case .success(let image) = result { shown.append(image.isFinal) }
          images.close()
        }
        try await eventuallyOnMainActor("a picture came") { !shown.isEmpty }
        for _ in 0..<20 { await Task.yield() }
        #expect(shown == [false])
      }
    }
  }

  @Test func closingTheManagerCallsNoHandler() async throws {
    let service = Service { _ in [] }
    try await ScriptedDaemon.with(service.answers) { @MainActor daemon in
      let images = ImageManager(of: daemon.library())
      images.requestImage(for: 7, targetSize: size) { Issue.record("\($0)") }
      try await eventuallyOnMainActor("the request has come") { service.requestedCount == 1 }
      let results = images.requestImage(for: 8, targetSize: size)
      images.close()
      await #expect(throws: CancellationError.self) { for try await _ in results {} }
    }
  }
}
