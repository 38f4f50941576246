import Foundation
import PhotoContract
import PhotoModel
import TestTools
import Testing
import Varlink

@testable import PhotoImages
@testable import PhotoServer

/// Sessions over a real socket, with a maker that a test controls.
@Suite(.timeLimit(.minutes(10))) struct ImageSessionTests {
  @Test func eachRequestGetsOneFinalResultOfTheAssetsRevision() async throws {
    let fixture = try ImageFixture()
    let ids = try ["a.jpg", "b.jpg", "c.jpg"].map { try fixture.add($0) }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await session.request(ids.enumerated().map { .frame(Int64($0 + 1), $1) })
      // Several pictures are made at a time, so any of them may come first.
      var missing = Set(ids.indices)
      while !missing.isEmpty {
        let result = try await session.next()
        let removed = missing.remove(Int(result.requestID) - 1)
        let index = try #require(removed, "\(result.requestID)")
        #expect(result.isFinal && result.failure == nil)
        let image = try #require(result.image)
        #expect(image.revision == (try fixture.asset(ids[index]).revision))
        #expect((image.width, image.height, image.contentType) == (256, 256, "image/jpeg"))
        #expect(image.data == nil && image.imageID == nil)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try #require(image.path)))
        #expect(bytes.count == image.byteCount)
      }
    }
  }

  @Test func cancelledRequestsGetNoResult() async throws {
    let fixture = try ImageFixture()
    let ids = try (1...20).map { try fixture.add("\($0).jpg") }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await fixture.maker.holding {
        try await session.request(ids.enumerated().map { .frame(Int64($0 + 1), $1) })
        try await eventually("a picture is being made") { fixture.maker.count == 1 }
        #expect(try await session.cancel([3, 4, 99]) == [3, 4])
        #expect(Set(try await session.cancel()) == Set(1...20).subtracting([3, 4]))
      }
      try await session.request([.frame(21, ids[19])])
      #expect(try await session.next().requestID == 21)
      // The one that was being made is finished and kept.
      #expect(fixture.maker.count == 2)
    }
  }

  @Test func aCallOnAnotherConnectionIsAnsweredWhileAPictureIsMade() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await fixture.maker.holding {
        try await session.request([.frame(1, id)])
        try await eventually("a picture is being made") { fixture.maker.count == 1 }
        let statistics = try await session.call("Statistics", VarlinkEmpty(), ImageStatistics.self)
        #expect((statistics.sessions, statistics.running, statistics.made) == (1, 1, 0))
      }
      #expect(try await session.next().isFinal)
      let statistics = try await session.call("Statistics", VarlinkEmpty(), ImageStatistics.self)
      #expect((statistics.made, statistics.maximumBytes) == (1, 2 << 30))
    }
  }

  @Test func aSessionEndsWithItsStream() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      await session.stream.close()
      try await eventually("the session has ended") {
        do {
          try await session.request([.frame(1, id)])
          return false
        } catch let error as VarlinkError {
          #expect(error.name == "org.photod.images.NoSuchSession")
          let named = try error.decodeParameters(SessionError.self).session
          #expect(named == session.name)
          return true
        }
      }
    }
  }

  @Test func theStreamEndsWithLibraryUnavailableWhenPhotodStops() async throws {
    let fixture = try ImageFixture()
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      fixture.engine.shutDown()
      #expect(try await session.end()?.name == "org.photod.images.LibraryUnavailable")
    }
  }

  @Test func idsAscendWithinASession() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await session.request([.frame(5, id)])
      let error = try await #require(throws: VarlinkError.self) {
        try await session.request([.frame(6, id), .frame(5, id)])
      }
      #expect(error.name == "org.photod.images.DuplicateRequest")
      #expect(try error.decodeParameters(RequestIDError.self).id == 5)
      // Nothing of that call was accepted.
      try await session.request([.frame(6, id)])
      #expect(Set([try await session.next().requestID, try await session.next().requestID]) == [5, 6])
    }
  }

  @Test func aCallHasAtMostAThousandRequests() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      for count in [1_001, 20_000] {
        let error = try await #require(throws: VarlinkError.self) {
          try await session.request((1...count).map { .frame(Int64($0), id) })
        }
        #expect(error.name == "org.photod.images.TooManyRequests")
        #expect(try error.decodeParameters(LimitError.self).limit == 1_000)
      }
      // Nothing of these calls was accepted.
      try await session.request((1...1_000).map { .frame(Int64($0), id) })
      for _ in 1...1_000 { #expect(try await session.next().image != nil) }
    }
  }

  /// The kernel takes some 200 KB of results that nobody reads, which are hundreds of pictures.
  @Test func anUnreadStreamGetsNoMoreWork() async throws {
    let fixture = try ImageFixture()
    let (_, ids) = try fixture.addFolder("many", photos: 1_000)
    try await fixture.serving { socket in
      let stream = try RawSocket(path: socket)
      try stream.send(#"{"method":"org.photod.images.OpenSession","more":true,"parameters":{}}"#)
      let first = String(decoding: try await stream.receive(), as: UTF8.self)
      let name = String(try #require(first.firstMatch(of: /"session":"([0-9a-f]+)"/)).1)
      let calls = try await VarlinkClient.connect(path: socket)
      _ = try await calls.call(
        "org.photod.images.RequestImages",
        RequestImagesRequest(
          session: name, requests: ids.enumerated().map { .frame(Int64($0 + 1), $1) }), returning: VarlinkEmpty.self)
      try await eventually("64 results wait for the reader") {
        fixture.engine.shared.withLock { state in
          state.sessions.values.contains { $0.results.count == 64 }
        }
      }
      // The reader counts as reading for a second or two. More pictures would be made in this time, if its silence did not
      // count.
      try await eventually("the session is left out") {
        let statistics = fixture.engine.statistics()
        return statistics.queued == 0 && statistics.running == 0
      }
      // 64 wait, and a reply of 64 is sent beside at most 32 KiB of replies with one result or more.
      #expect(fixture.maker.count < 64 + 64 + 48)
      var count = 0
      while count < ids.count {
        count += String(decoding: try await stream.receive(), as: UTF8.self).ranges(of: #""requestID":"#).count
      }
      #expect(count == ids.count && fixture.maker.count == ids.count)
    }
  }

  @Test(arguments: [
    (#"{"id":1,"assetID":1,"targetWidth":0,"targetHeight":1}"#, "requests[0].targetWidth"),
    (#"{"id":1,"assetID":1,"targetWidth":1,"targetHeight":16385}"#, "requests[0].targetHeight"),
    (#"{"id":1,"assetID":1,"targetHeight":1}"#, "requests[0].targetWidth"),
    (#"{"id":1,"assetID":1,"contentMode":"stretch"}"#, "requests[0].contentMode"),
    (#"{"id":1,"assetID":1,"deliveryMode":"slow"}"#, "requests[0].deliveryMode"),
    (#"{"id":1,"assetID":1,"resizeMode":"none"}"#, "requests[0].resizeMode"),
    (#"{"id":1,"assetID":1,"version":"next"}"#, "requests[0].version"),
    (#"{"id":1,"assetID":1,"format":"gif"}"#, "requests[0].format"),
    (#"{"id":1,"assetID":1,"resource":-1}"#, "requests[0].resource"),
    (#"{"id":1,"assetID":1,"atSeconds":-0.5}"#, "requests[0].atSeconds"),
    (#"{"id":1,"assetID":1,"quality":3}"#, "requests[0].quality"),
  ])
  func aMemberOutOfItsRangeIsNamed(_ request: String, _ member: String) async throws {
    struct Parameter: Decodable { let parameter: String }
    let fixture = try ImageFixture()
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      let text = #"{"session":"\#(session.name)","requests":[\#(request)]}"#
      let error = try await #require(throws: VarlinkError.self) {
        _ = try await session.calls.call("org.photod.images.RequestImages", encoded: VarlinkEncoded(Array(text.utf8)))
      }
      #expect(error.name == "org.varlink.service.InvalidParameter")
      #expect(try error.decodeParameters(Parameter.self).parameter == member)
    }
  }

  @Test func methodsOfSeveralRepliesNeedMore() async throws {
    let fixture = try ImageFixture()
    try await fixture.serving { socket in
      let client = try await VarlinkClient.connect(path: socket)
      for (method, parameters) in [("OpenSession", "{}"), ("MakeImages", #"{"requests":[]}"#)] {
        let error = try await #require(throws: VarlinkError.self) {
          _ = try await client.call("org.photod.images.\(method)", encoded: VarlinkEncoded(Array(parameters.utf8)))
        }
        #expect(error == .expectedMore)
      }
    }
  }

  @Test func wantsDataGivesSmallPicturesAsDataAndLargeOnesByName() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    let other = try fixture.add("b.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket, wantsData: true)
      try await session.request([.frame(1, id)])
      let small = try #require(try await session.next().image)
      let bytes = FakePictureMaker.picture(256, 256, byteCount: 1_000)
      #expect(small.data == Data(bytes).base64EncodedString() && small.path == nil && small.imageID == nil)
      fixture.maker.byteCount.withLock { $0 = 900_000 }
      try await session.request([.frame(2, other)])
      let large = try #require(try await session.next().image)
      let imageID = try #require(large.imageID)
      #expect(large.data == nil && large.path == nil && large.byteCount == 900_000)
      var read = Data()
      while read.count < 900_000 {
        let request = ReadImageRequest(session: session.name, imageID: imageID, offset: read.count)
        let page = try await session.call("ReadImage", request, ReadImageReply.self)
        #expect(page.offset == read.count && page.total == 900_000)
        let data = try #require(Data(base64Encoded: page.data))
        #expect(data.count <= 512 << 10 && !data.isEmpty)
        read += data
      }
      #expect(read == Data(FakePictureMaker.picture(256, 256, byteCount: 900_000)))
      let unknown = try await #require(throws: VarlinkError.self) {
        _ = try await session.call(
          "ReadImage", ReadImageRequest(session: session.name, imageID: "none"), ReadImageReply.self)
      }
      #expect(unknown.name == "org.photod.images.NoSuchImage")
    }
  }

  @Test func cachingMakesPicturesBeforeTheyAreRequested() async throws {
    let fixture = try ImageFixture()
    let ids = try (1...5).map { try fixture.add("\($0).jpg") }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      let set = CachingRequest(session: session.name, assetIDs: ids + [999], targetWidth: 256, targetHeight: 256)
      _ = try await session.call("StartCaching", set, VarlinkEmpty.self)
      try await eventually("the pictures are made") { fixture.maker.count == 5 }
      try await session.request(ids.enumerated().map { .frame(Int64($0 + 1), $1) })
      for _ in ids { #expect(try await session.next().image?.isDegraded == false) }
      #expect(fixture.maker.count == 5)
      _ = try await session.call("StopCaching", set, VarlinkEmpty.self)
      _ = try await session.call("StopCachingAll", StopCachingAllRequest(session: session.name), VarlinkEmpty.self)
    }
  }

  @Test func aProcessHasAtMostSixteenSessions() async throws {
    let fixture = try ImageFixture()
    try await fixture.serving { socket in
      var sessions: [ImageTestSession] = []
      for _ in 0..<16 { sessions.append(try await ImageTestSession(socket)) }
      let error = try await #require(throws: VarlinkError.self) { _ = try await ImageTestSession(socket) }
      #expect(error.name == "org.photod.images.TooManySessions")
      #expect(try error.decodeParameters(LimitError.self).limit == 16)
      #expect(Set(sessions.map(\.name)).count == 16)
    }
  }

  @Test func clearImagesEmptiesTheStore() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      let set = CachingRequest(session: session.name, assetIDs: [id], targetWidth: 256, targetHeight: 256)
      _ = try await session.call("StartCaching", set, VarlinkEmpty.self)
      try await eventually("the picture is kept") { fixture.engine.statistics().bytes == 1_000 }
      let cleared = try await session.calls.call("org.photod.manage.ClearImages", returning: ClearedImages.self)
      #expect(cleared.byteCount == 1_000)
      #expect(fixture.engine.statistics().bytes == 0)
    }
  }

  @Test func withoutALibraryEachCallNamesTheReason() async throws {
    let library = DegradedService(reasons: ["The catalog can't be read."], version: "1")
    let service = VarlinkService(
      identity: .init(vendor: "v", product: "p", version: "1", url: "u"),
      interfaces: [library, DegradedImageService(beside: library)])
    let folder = try TemporaryFolder("degraded")
    let descriptor = try VarlinkSocket.listen(path: folder.path + "/s")
    try await withThrowingTaskGroup { group in
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      let client = try await VarlinkClient.connect(path: folder.path + "/s")
      let error = try await #require(throws: VarlinkError.self) {
        _ = try await client.call("org.photod.images.Statistics", returning: ImageStatistics.self)
      }
      #expect(error.name == "org.photod.images.LibraryUnavailable")
      #expect(try error.decodeParameters(MessageError.self).message == "The catalog can't be read.")
    }
  }
}
