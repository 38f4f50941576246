import Foundation
import PhotoCatalog
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoIndexer
@testable import PhotoServer

/// ListValues on a real socket.
@Suite(.timeLimit(.minutes(10))) struct ListValuesTests {
  private struct KeyError: Decodable {
    let key: String
    let known: [String]
  }

  private func insert(_ fixture: ServerFixture, _ lens: String?, _ count: Int, isHidden: Bool = false) throws {
    try fixture.commit { writer in
      for _ in 0..<count {
        let row = FileRow(
          assetID: 0, directoryID: fixture.directoryID, name: Array(UUID().uuidString.utf8), byteCount: 1,
          modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        var content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")
        content.camera = Camera(lens: lens)
        let id = try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
        if isHidden { try writer.setUserData(of: id, isFavorite: nil, isHidden: true) }
      }
    }
  }

  private func values(_ client: VarlinkClient, _ request: ListValuesRequest) async throws -> ValueCounts {
    try await client.call("org.photod.library.ListValues", request, returning: ValueCounts.self)
  }

  @Test func valuesComeByCountAndThenByName() async throws {
    let fixture = try ServerFixture()
    for (lens, count) in [("b", 2), ("Beta", 1), ("a", 2), ("c", 5), (nil, 3)] as [(String?, Int)] {
      try insert(fixture, lens, count)
    }
    try await fixture.serving { path, failures in
      let client = try await VarlinkClient.connect(path: path)
      let all = try await values(client, ListValuesRequest(key: "camera.lens"))
      #expect(all.values == ["c", "a", "b", "Beta"] && all.counts == [5, 2, 2, 1])
      #expect(all.total == 4 && all.assetCount == 13 && all.absentCount == 3)
      #expect(try fixture.token() == all.token)
      // The prefix ignores case, and the total counts the values beyond the limit.
      let some = try await values(client, ListValuesRequest(key: "camera.lens", prefix: "B", limit: 1))
      #expect(some.values == ["b"] && some.counts == [2] && some.total == 2 && some.assetCount == 13)
      let none = try await values(client, ListValuesRequest(key: "keywords"))
      #expect(none.values == [] && none.total == 0 && none.absentCount == 13)
      let filtered = try await values(
        client, ListValuesRequest(key: "camera.lens", options: FetchOptions(predicate: "camera.lens BEGINSWITH 'B'")))
      #expect(filtered.values == ["Beta"] && filtered.assetCount == 1 && filtered.absentCount == 0)
      #expect(failures() == [])
      await client.close()
    }
  }

  @Test func hiddenAssetsAreCountedOnlyIfTheyAreAskedFor() async throws {
    let fixture = try ServerFixture()
    try insert(fixture, "a", 2)
    try insert(fixture, "b", 3, isHidden: true)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let visible = try await values(client, ListValuesRequest(key: "camera.lens"))
      #expect(visible.values == ["a"] && visible.assetCount == 2)
      let all = try await values(
        client, ListValuesRequest(key: "camera.lens", options: FetchOptions(includeHidden: true)))
      #expect(all.values == ["b", "a"] && all.counts == [3, 2] && all.assetCount == 5)
      await client.close()
    }
  }

  /// Long values are left out where the reply would be too large, and the total still counts them.
  @Test func aReplyStaysUnderItsSize() async throws {
    let fixture = try ServerFixture()
    let lenses = (0..<300).map { "\(1_000 + $0)" + String(repeating: $0 % 2 == 0 ? "\u{1}" : "é", count: 5_000) }
    for lens in lenses { try insert(fixture, lens, 1) }
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      try socket.send(
        #"{"method":"org.photod.library.ListValues","parameters":{"key":"camera.lens","limit":10000}}"#)
      struct Reply: Decodable { let parameters: ValueCounts }
      let data = try await socket.receive()
      #expect(data.count <= 1 << 20 && data.count > 900 << 10)
      let reply = try JSONDecoder().decode(Reply.self, from: data).parameters
      #expect(reply.values == Array(lenses.prefix(reply.values.count)) && reply.total == 300)
      #expect(failures() == [])
    }
  }

  @Test func wrongRequestsAreNamed() async throws {
    let fixture = try ServerFixture()
    try await fixture.serving { path, failures in
      let client = try await VarlinkClient.connect(path: path)
      let unknown = await #expect(throws: VarlinkError.self) {
        _ = try await values(client, ListValuesRequest(key: "lens"))
      }
      #expect(unknown?.name == "org.photod.library.UnknownValueKey")
      let parameters = try #require(try unknown?.decodeParameters(KeyError.self))
      #expect(parameters.key == "lens" && parameters.known == ListKeys.current.valueKeys)
      for limit in [0, -1] {
        let error = await #expect(throws: VarlinkError.self) {
          _ = try await values(client, ListValuesRequest(key: "year", limit: limit))
        }
        #expect(error == .invalidParameter("limit"))
      }
      let sort = [SortDescriptor(key: "size", ascending: true)]
      let error = await #expect(throws: VarlinkError.self) {
        _ = try await values(client, ListValuesRequest(key: "year", options: FetchOptions(sortDescriptors: sort)))
      }
      #expect(error?.name == "org.photod.library.UnknownSortKey")
      #expect(failures() == [])
      await client.close()
    }
  }
}
