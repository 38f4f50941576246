import Foundation
import PhotoContract
import PhotoModel
import TestTools
import Testing
import Varlink

@testable import PhotoImages
@testable import PhotoServer

/// MakeImages: pictures over one connection.
@Suite(.timeLimit(.minutes(10))) struct MakeImagesTests {
  private func make(_ socket: String, _ requests: [ImageRequest], wantsData: Bool? = nil) async throws -> [ImageResult]
  {
    let client = try await VarlinkClient.connect(path: socket)
    let call = MakeImagesRequest(requests: requests, wantsData: wantsData)
    var results: [ImageResult] = []
    for try await reply in client.stream("org.photod.images.MakeImages", call, of: MakeImagesReply.self) {
      results += reply.results
    }
    return results
  }

  @Test func eachRequestGetsItsFinalResultOnly() async throws {
    let fixture = try ImageFixture()
    let ids = try (1...100).map { try fixture.add("\($0).jpg") }
    try await fixture.serving { socket in
      // The ids need not ascend.
      let requests = ids.enumerated().map { index, id in
        ImageRequest(id: Int64(500 - index), assetID: id, targetWidth: 128, targetHeight: 128)
      }
      let results = try await make(socket, requests)
      #expect(Set(results.map(\.requestID)) == Set(401...500) && results.count == 100)
      #expect(results.allSatisfy { $0.isFinal && $0.image?.path != nil })
    }
  }

  @Test func noRequestsAreOneEmptyReply() async throws {
    let fixture = try ImageFixture()
    try await fixture.serving { socket in
      let results = try await make(socket, [])
      #expect(results.isEmpty)
    }
  }

  @Test func anUnknownAssetIsAFailureOfItsRequest() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let results = try await make(socket, [.frame(1, 77), .frame(2, id)]).sorted { $0.requestID < $1.requestID }
      #expect(results.map(\.failure?.kind) == [.noSuchAsset, nil])
      #expect(results.allSatisfy { $0.isFinal })
    }
  }

  @Test func anIDThatOccursTwiceIsRefused() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let error = try await #require(throws: VarlinkError.self) {
        _ = try await make(socket, [.frame(4, id), .frame(4, id)])
      }
      #expect(error.name == "org.photod.images.DuplicateRequest")
      #expect(try error.decodeParameters(RequestIDError.self).id == 4)
    }
  }

  @Test func dataIsTheWholePictureUpToEightMiB() async throws {
    let fixture = try ImageFixture()
    let ids = try ["a.jpg", "b.jpg", "c.jpg"].map { try fixture.add($0) }
    try await fixture.serving { socket in
      fixture.maker.byteCount.withLock { $0 = 3_000_000 }
      let results = try await make(socket, ids.prefix(2).enumerated().map { .frame(Int64($0), $1) }, wantsData: true)
      let bytes = FakePictureMaker.picture(256, 256, byteCount: 3_000_000)
      #expect(results.count == 2)
      #expect(results.allSatisfy { $0.image?.data == Data(bytes).base64EncodedString() && $0.image?.imageID == nil })
      fixture.maker.byteCount.withLock { $0 = 9_000_000 }
      let tooLarge = try await make(socket, [.frame(1, ids[2])], wantsData: true)
      #expect(tooLarge.map(\.failure?.kind) == [.tooLarge])
    }
  }

  @Test func closingTheConnectionCancels() async throws {
    let fixture = try ImageFixture()
    let ids = try (1...20).map { try fixture.add("\($0).jpg") }
    try await fixture.serving { socket in
      try await fixture.maker.holding {
        let client = try await VarlinkClient.connect(path: socket)
        let call = MakeImagesRequest(requests: ids.enumerated().map { .frame(Int64($0), $1) })
        let task = Task {
          for try await _ in client.stream("org.photod.images.MakeImages", call, of: MakeImagesReply.self) {}
        }
        try await eventually("a picture is being made") { fixture.maker.count == 1 }
        task.cancel()
        try await eventually("nothing is queued") { fixture.engine.statistics().queued == 0 }
      }
      #expect(try await make(socket, [.frame(1, ids[19])]).count == 1)
      #expect(fixture.maker.count == 2)
    }
  }
}
