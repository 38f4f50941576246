import Foundation
import PhotoClient
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// ImageManager over a scripted service.
@Suite(.timeLimit(.minutes(10))) struct ImageManagerTests {
  /// The part of the service: sessions with requests that the test answers.
  private final class Sessions: Sendable {
    struct State {
      var requests: [ImageRequest] = []
      var cancelled: [Int64] = []
      var mostOpen = 0
      var caching: [CachingRequest] = []
      var stopped: [CachingRequest] = []
      var count = 0
    }

    let state = Mutex(State())
    private let results = AsyncStream.makeStream(of: [ImageResult].self)

    func send(_ results: ImageResult...) { self.results.continuation.yield(results) }

    /// - Parameters:
    ///   - endingFirst: ends the first session when the first request has come.
    ///   - results: the results that the first session sends before it ends.
    func answers(endingFirst: Bool = false, after results: [ImageResult] = []) -> [String: ScriptedDaemon.Answer] {
      [
        "OpenSession": { call in
          let number = self.state.withLock { state in
            state.count += 1
            return state.count
          }
          try await call.replyContinuing(OpenSessionReply(session: "s\(number)", results: []))
          if endingFirst, number == 1 {
            try await eventually("a request has come") { self.state.withLock { !$0.requests.isEmpty } }
            try await call.replyContinuing(OpenSessionReply(session: "s1", results: results))
            throw VarlinkError("org.photod.images.LibraryUnavailable", MessageError(message: "photod is stopping."))
          }
          for await results in self.results.stream {
            try await call.replyContinuing(OpenSessionReply(session: "s\(number)", results: results))
          }
        },
        "RequestImages": { call in
          let parameters = try call.parameters(RequestImagesRequest.self)
          self.state.withLock { state in
            state.requests += parameters.requests
            state.mostOpen = max(state.mostOpen, state.requests.count - state.cancelled.count)
          }
          try await call.reply(VarlinkEmpty())
        },
        "CancelRequests": { call in
          let ids = try call.parameters(CancelRequestsRequest.self).ids ?? []
          self.state.withLock { $0.cancelled += ids }
          try await call.reply(CancelRequestsReply(cancelled: ids))
        },
        "StartCaching": { call in
          let parameters = try call.parameters(CachingRequest.self)
          self.state.withLock { $0.caching.append(parameters) }
          try await call.reply(VarlinkEmpty())
        },
        "StopCaching": { call in
          let parameters = try call.parameters(CachingRequest.self)
          self.state.withLock { $0.stopped.append(parameters) }
          try await call.reply(VarlinkEmpty())
        },
      ]
    }

    func waitForRequests(_ count: Int) async throws -> [ImageRequest] {
      try await eventually("\(count) requests have come") { state.withLock { $0.requests.count >= count } }
      return state.withLock { $0.requests }
    }
  }

  private func result(_ id: Int64, isFinal: Bool = true, text: String = "x") -> ImageResult {
    ImageResult(
      requestID: id, isFinal: isFinal,
      image: ImageDescription(
        data: Data(text.utf8).base64EncodedString(), contentType: "image/jpeg", width: 10, height: 20,
        byteCount: text.utf8.count, isDegraded: !isFinal, revision: "r"))
  }

  private let size = ImageSize(width: 256, height: 128)

  @Test func aDegradedPictureComesBeforeTheFinalOne() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      let results = images.requestImage(for: 7, targetSize: size, contentMode: .aspectFill)
      let request = try #require(try await sessions.waitForRequests(1).first)
      #expect((request.assetID, request.targetWidth, request.targetHeight) == (7, 256, 128))
      #expect((request.contentMode, request.deliveryMode) == (.aspectFill, .opportunistic))
      sessions.send(result(request.id, isFinal: false, text: "small"))
      sessions.send(result(request.id, text: "large"))
      var shown: [String] = []
      for try await image in results {
        #expect(image.isDegraded != image.isFinal)
        shown.append(String(decoding: try await images.data(of: image), as: UTF8.self))
      }
      #expect(shown == ["small", "large"])
    }
  }

  @Test func aFailureIsThrown() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      async let image = images.image(for: 7, targetSize: nil)
      let request = try #require(try await sessions.waitForRequests(1).first)
      let failure = ImageFailure(kind: .unsupported, message: "No decoder. Install photod-images.")
      sessions.send(ImageResult(requestID: request.id, isFinal: true, failure: failure))
      let error = PhotoLibraryError.noImage(kind: .unsupported, message: failure.message)
      do {
        _ = try await image
        Issue.record("there was a picture")
      } catch let thrown as PhotoLibraryError {
        #expect(thrown == error && thrown.remedy == "Install photod-images.")
      }
    }
  }

  @Test func remedyOfAnUnsupportedPictureFitsItsReason() {
    let missing = "pictures need the program photod-image, which the package photod-images installs"
    #expect(PhotoLibraryError.noImage(kind: .unsupported, message: missing).remedy.contains("photod-images"))
    let variant = "a BMP with 4 bits and compression 2 is not supported"
    #expect(PhotoLibraryError.noImage(kind: .unsupported, message: variant).remedy.contains("Convert the file"))
    let video = "pictures of videos need the program photod-video, which the package photod-videos installs"
    #expect(PhotoLibraryError.noImage(kind: .unsupported, message: video).remedy.contains("photod-videos"))
    let codec = "FFmpeg has no decoder for the video's format (unknown)"
    #expect(PhotoLibraryError.noImage(kind: .unsupported, message: codec).remedy.contains("H.264"))
  }

  @Test func cancellingTheTaskCancelsTheRequest() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      let task = Task { try await images.image(for: 7, targetSize: size) }
      let request = try #require(try await sessions.waitForRequests(1).first)
      task.cancel()
      try await eventually("the request is cancelled") { sessions.state.withLock { $0.cancelled } == [request.id] }
      await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
  }

  /// The picture has arrived, and waits in the stream of a task that is cancelled on its own actor.
  @Test func aCancelledTaskGetsNoPictureThatWaited() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      let results = images.requestImage(for: 7, targetSize: size)
      let other = images.requestImage(for: 8, targetSize: size)
      let requests = try await sessions.waitForRequests(2)
      sessions.send(result(requests[0].id, isFinal: false, text: "small"))
      sessions.send(result(requests[0].id, text: "large"))
      sessions.send(result(requests[1].id, text: "other"))
      // Results arrive in their order, so the first two have arrived after this.
      for try await _ in other {}
      #expect(try await !Self.getsPictureAfterCancellation(results))
    }
  }

  @MainActor private static func getsPictureAfterCancellation(_ results: ImageResults) async throws -> Bool {
    let task = Task { () -> Bool in
      do {
        for try await _ in results { return true }
      } catch is CancellationError {
        // This is the only end without a picture.
      }
      return false
    }
    task.cancel()
    return try await task.value
  }

  @Test func requestsOfManyTasksShareCallsAndTheirIDsAscend() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      let results = (1...2_500).map { images.requestImage(for: AssetID(rawValue: $0), targetSize: size) }
      let requests = try await sessions.waitForRequests(2_500)
      #expect(requests.map(\.id) == Array(1...2_500))
      #expect(requests.map(\.assetID.rawValue) == Array(1...2_500))
      #expect(daemon.calls.count { $0 == "RequestImages" } < 100)
      #expect(daemon.calls.count { $0 == "OpenSession" } == 1)
      withExtendedLifetime(results) {}
    }
  }

  @Test func anotherSessionRepeatsWhatIsStillWanted() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers(endingFirst: true)) { daemon in
      let images = ImageManager(of: daemon.library())
      images.startCachingImages(for: [1, 2], targetSize: size)
      async let image = images.image(for: 7, targetSize: size)
      let requests = try await sessions.waitForRequests(2)
      #expect(requests[0] == requests[1])
      sessions.send(result(requests[1].id))
      #expect(try await image.isFinal)
      try await eventually("the set is repeated") {
        sessions.state.withLock { $0.caching.last?.session == "s2" && Set($0.caching.last?.assetIDs ?? []) == [1, 2] }
      }
    }
  }

  /// Both sessions make the degraded picture, and the app gets it once.
  @Test func aDegradedPictureComesOnceAlsoFromAnotherSession() async throws {
    let sessions = Sessions()
    let small = result(1, isFinal: false, text: "small")
    try await ScriptedDaemon.with(sessions.answers(endingFirst: true, after: [small])) { daemon in
      let images = ImageManager(of: daemon.library())
      let results = images.requestImage(for: 7, targetSize: size)
      #expect(try await sessions.waitForRequests(2).map(\.id) == [1, 1])
      sessions.send(small)
      sessions.send(result(1, text: "large"))
      var shown: [Bool] = []
      for try await image in results { shown.append(image.isFinal) }
      #expect(shown == [false, true])
    }
  }

  /// photod counts a cancelled request until it has got the cancellation.
  @Test func cancellationsMakeRoomForRequestsAtTheLimit() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = ImageManager(of: daemon.library())
      var results = (1...10_000).map { images.requestImage(for: AssetID(rawValue: $0), targetSize: size) }
      _ = try await sessions.waitForRequests(10_000)
      results += (10_001...10_500).map { images.requestImage(for: AssetID(rawValue: $0), targetSize: size) }
      // Leaving the results cancels their requests.
      results.removeFirst(500)
      _ = try await sessions.waitForRequests(10_500)
      #expect(sessions.state.withLock { $0.mostOpen } == 10_000)
      #expect(sessions.state.withLock { Set($0.cancelled) } == Set(1...500))
      withExtendedLifetime(results) {}
    }
  }

  @Test(arguments: [false, true]) func aSessionThatOpensWhileTheManagerEndsIsClosed(isReleased: Bool) async throws {
    let state = Mutex((hasBegun: false, mayOpen: false, hasEnded: false))
    let open: ScriptedDaemon.Answer = { call in
      defer { state.withLock { $0.hasEnded = true } }
      state.withLock { $0.hasBegun = true }
      try await eventually("the session may open") { state.withLock { $0.mayOpen } }
      try await call.replyContinuing(OpenSessionReply(session: "s1", results: []))
      try await Task.sleep(for: .seconds(3_600))
    }
    try await ScriptedDaemon.with(["OpenSession": open]) { daemon in
      var images: ImageManager? = ImageManager(of: daemon.library())
      let results = images?.requestImage(for: 7, targetSize: size)
      try await eventually("the session opens") { state.withLock { $0.hasBegun } }
      if isReleased { images = nil } else { images?.close() }
      state.withLock { $0.mayOpen = true }
      try await eventually("the session is closed") { state.withLock { $0.hasEnded } }
      withExtendedLifetime((images, results)) {}
    }
  }

  @Test func theCachingSetIsKeptWhilePhotodIsAwayForLong() async throws {
    let sessions = Sessions()
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      let images = ImageManager(of: library, patience: .milliseconds(100))
      images.startCachingImages(for: [1, 2], targetSize: size)
      await images.sent()
      await #expect(throws: PhotoLibraryError.self) { try await images.image(for: 7, targetSize: size) }
      try await ScriptedDaemon.with(sessions.answers(), in: directory) { _ in
        images.startCachingImages(for: [3], targetSize: size)
        try await eventually("photod has the set") {
          sessions.state.withLock { Set($0.caching.flatMap(\.assetIDs)) } == [1, 2, 3]
        }
      }
    }
  }

  @Test func anAssetIsRequestedAsItsID() async throws {
    let sessions = Sessions()
    try await ScriptedDaemon.with(sessions.answers()) { daemon in
      let images = CachingImageManager(of: daemon.library())
      let results = images.requestImage(for: asset(7), targetSize: size)
      async let image = images.image(for: asset(8), targetSize: nil)
      let requests = try await sessions.waitForRequests(2)
      #expect(Set(requests.map(\.assetID)) == [7, 8])
      for request in requests { sessions.send(result(request.id)) }
      #expect(try await image.isFinal)
      for try await image in results { #expect(image.isFinal) }
      images.startCachingImages(for: [asset(1), asset(2)], targetSize: size, contentMode: .aspectFill)
      await images.sent()
      images.stopCachingImages(for: [asset(2)], targetSize: size, contentMode: .aspectFill)
      await images.sent()
      let (started, stopped) = sessions.state.withLock { ($0.caching, $0.stopped) }
      #expect(started.map { Set($0.assetIDs) } == [[1, 2]] && started.map(\.contentMode) == [.aspectFill])
      #expect(stopped.map(\.assetIDs) == [[2]] && stopped.map(\.contentMode) == [.aspectFill])
    }
  }

  @Test func aSizeOutOfRangeIsRefusedWithoutACall() async throws {
    let images = ImageManager(of: PhotoLibrary(socketPath: "/nonexistent"))
    for size in [ImageSize(width: 0, height: 1), ImageSize(width: 1, height: 16_385)] {
      await #expect(throws: PhotoLibraryError.invalidParameter("targetSize")) {
        _ = try await images.image(for: 1, targetSize: size)
      }
    }
  }
}
