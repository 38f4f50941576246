import Foundation
import TestTools
import Testing

@testable import PhotoContract
@testable import PhotoModel

/// A reply of a later photod has enum words that this program does not know.
struct OpenEnumTests {
  @Test func aNewWordReadsAsUnknownAndKeepsTheRestOfTheReply() throws {
    var random = RandomValues(seed: 31)
    var asset = random.asset()
    asset.mediaType = .video
    asset.creationDateSource = .metadata
    asset.resources = [
      Resource(kind: .sidecar, path: "/a", filename: "a", byteCount: 1, contentType: "application/rdf+xml")
    ]
    let observation = Observation(
      token: "t", count: 1, digest: "d", ids: [1], reload: .tooManyChanges, insertedAssets: [asset])
    let sent = try text(ObserveReply(observation: observation))
    let later = sent.replacing(#""video""#, with: #""hologram""#).replacing(#""metadata""#, with: #""guess""#)
      .replacing(#""sidecar""#, with: #""thumbnail""#).replacing(#""tooManyChanges""#, with: #""moved""#)
    asset.mediaType = .unknown
    asset.creationDateSource = .unknown
    asset.resources[0].kind = .unknown
    var expected = observation
    expected.reload = .unknown
    expected.insertedAssets = [asset]

    #expect(try JSONDecoder().decode(ObserveReply.self, from: Data(later.utf8)).observation == expected)
    let fast = try Array(later.utf8).withUnsafeBufferPointer { try JSONReader.read(ObserveReply.self, from: $0) }
    #expect(fast.observation == expected)
  }

  @Test func aNewKindOfCollectionReadsAsUnknown() throws {
    let page = CollectionPage(
      token: "t",
      collections: [
        AssetCollection(id: 1, kind: .folderAlbum, title: "a", count: 2),
        AssetCollection(id: 2, kind: .album, title: "b", count: 3),
      ])
    let later = try text(page).replacing(#""folderAlbum""#, with: #""person""#)
    let read = try JSONDecoder().decode(CollectionPage.self, from: Data(later.utf8))
    #expect(read.collections.map(\.kind) == [.unknown, .album])
    #expect(read.collections.map(\.title) == ["a", "b"])
  }

  @Test func newStatesReadAsUnknown() throws {
    let status = LibraryStatus(
      state: .live, library: "l", token: "t", version: "1",
      roots: [.init(path: "/photos", state: .suspect, watch: .polling, assetCount: 7)])
    let later = try text(StatusReply(status: status)).replacing(#""live""#, with: #""thinking""#)
      .replacing(#""suspect""#, with: #""remote""#).replacing(#""polling""#, with: #""fanotify""#)
    let read = try JSONDecoder().decode(StatusReply.self, from: Data(later.utf8)).status
    #expect(read.state == .unknown)
    #expect(read.roots == [.init(path: "/photos", state: .unknown, watch: .unknown, assetCount: 7)])
  }

  /// Every enum of every reply has a word of a later version at once.
  @Test(arguments: ["library", "manage", "images"])
  func eachReplyWithNewWordsIsRead(of interface: String) throws {
    let (text, messages) =
      switch interface {
      case "library": (InterfaceDefinition.library, ContractMessages.library)
      case "manage": (InterfaceDefinition.manage, .manage)
      default: (InterfaceDefinition.images, .images)
      }
    let contract = try ContractText(text)
    for (method, types) in messages.methods {
      let shape = try #require(contract.replies[method])
      let json = contract.sample(of: shape) { _ in "tomorrow" }
      let words = contract.wordCount(of: shape)
      try readAll(types.reply, json, words, method)
      if let fast = types.reply as? any JSONReadable.Type {
        try Array(json.utf8).withUnsafeBufferPointer { bytes in try read(fast, bytes) }
      }
    }
  }

  private func read<Value: JSONReadable>(_ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>) throws {
    _ = try JSONReader.read(type, from: bytes)
  }

  /// A word that is read as text stays, and any other is unknown.
  private func readAll(_ type: any Decodable.Type, _ json: String, _ words: Int, _ method: String) throws {
    let value = try JSONDecoder().decode(type, from: Data(json.utf8))
    #expect(newWords(in: value) == words, "\(method)")
  }

  private func newWords(in value: Any) -> Int {
    if let word = value as? any OpenEnum { return isUnknown(word) ? 1 : 0 }
    if let text = value as? String { return text == "tomorrow" ? 1 : 0 }
    return Mirror(reflecting: value).children.reduce(0) { $0 + newWords(in: $1.value) }
  }

  private func isUnknown<Word: OpenEnum>(_ word: Word) -> Bool { word == .unknown }

  @Test func requestsTakeTheWordsOfTheContractOnly() {
    #expect(CreationDateSource(request: "user") == .user)
    #expect(CreationDateSource(request: "unknown") == nil)
    #expect(CreationDateSource(request: "guess") == nil)
    #expect(MediaType(request: "unknown") == .unknown)
  }

  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
  }
}
