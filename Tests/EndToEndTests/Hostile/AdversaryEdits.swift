import Foundation
import PhotoModel
import PhotoTestSupport

// The adversary's actions on albums, and on what can be undone.
extension Adversary {
  private struct Reply: Decodable {
    struct Parameters: Decodable {
      struct Change: Decodable { let id: Int }
      let createdCollectionIDs: [CollectionID]?
      let changes: [Change]?
    }
    let error: String?
    let parameters: Parameters?
  }

  /// - Returns: the parameters of the reply; nil if there was none in time, or an error.
  private func reply(_ method: String, _ parameters: String, on connection: RawSocket) throws -> Reply.Parameters? {
    guard connection.send(AdversaryMessages.library(method, parameters)), let reply = receive(connection) else {
      return nil
    }
    let decoded = try JSONDecoder().decode(Reply.self, from: Data(reply))
    return decoded.error == nil ? decoded.parameters : nil
  }

  /// - Returns: the collections that were created.
  private func change(_ requests: String, group: String = "x", on connection: RawSocket) throws -> [CollectionID]? {
    try reply(
      "PerformChanges", #"{"requests":[\#(requests)],"clientName":"adversary","undoGroup":"\#(group)"}"#, on: connection
    )?.createdCollectionIDs
  }

  /// As many photos as a call may have, in an album that is in a deep folder. They are shuffled, and all of it is deleted.
  func albums(using random: inout SeededGenerator) throws -> Bool {
    let connection = try connect(timeout: .seconds(10))
    let folders = (0..<30).map { #"{"createFolder":{"title":"f","parentID":\#(-$0)}}"# }
    let album = #"{"createAlbum":{"title":"a","parentID":-30,"assetIDs":[\#(list(ids))]}}"#
    guard let made = try change((folders + [album]).joined(separator: ","), on: connection), made.count == 31 else {
      return false
    }
    var isTaken = true
    for _ in 0..<5 {
      let placed = list(ids.shuffled(using: &random))
      isTaken =
        try change(#"{"editAlbum":{"id":\#(made[30]),"placeAssetIDs":[\#(placed)]}}"#, on: connection) != nil && isTaken
    }
    return try change(#"{"deleteAlbum":\#(made[0])}"#, on: connection) != nil && isTaken
  }

  /// Makes changes that can be undone, some of them in groups, and undoes what photod names.
  func undo(using random: inout SeededGenerator) throws -> Bool {
    let connection = try connect(timeout: .seconds(10))
    for number in 0..<20 {
      let caption = String(repeating: "c", count: 1_000) + "\(number)"
      let some = list(ids.shuffled(using: &random).prefix(20))
      let edit = #"{"editAsset":{"ids":[\#(some)],"caption":"\#(caption)"}}"#
      guard try change(edit, group: "\(number % 3)", on: connection) != nil else { return false }
    }
    guard let changes = try reply("FetchUndoableChanges", "{}", on: connection)?.changes else { return false }
    var isTaken = true
    for change in changes.prefix(20) {
      // Other threads may have changed the same photos since. That is an error, and no failure.
      isTaken = connection.send(AdversaryMessages.library("UndoChange", #"{"id":\#(change.id)}"#)) && isTaken
      isTaken = receive(connection) != nil && isTaken
    }
    return isTaken
  }

  /// Stores queries that take very long, and asks for the collections while they are there.
  func costlySmartAlbums() throws -> Bool {
    let connection = try connect(timeout: .seconds(20))
    func create(_ predicate: String) -> String { #"{"createSmartAlbum":{"title":"s","predicate":"\#(predicate)"}}"# }
    var made: [CollectionID] = []
    for _ in 0..<8 { made += try change(create(AdversaryMessages.predicate(nextSalt())), on: connection) ?? [] }
    made += try change(create("path MATCHES '(.*a)*(.*b)*(.*c)*x'"), on: connection) ?? []
    // The queries of one call are too long together.
    let all = (0..<10).map { _ in create(AdversaryMessages.predicate(nextSalt())) }
    let isRefused = try change(all.joined(separator: ","), on: connection) == nil
    var isTaken = made.count == 9 && isRefused
    for parameters in ["{}", #"{"containingAsset":\#(ids[0])}"#] {
      isTaken = try reply("FetchCollections", parameters, on: connection) != nil && isTaken
    }
    let observer = try connect(timeout: .seconds(10))
    isTaken = observer.send(AdversaryMessages.library("ObserveCollections", "{}", #","more":true"#)) && isTaken
    isTaken = receive(observer) != nil && isTaken
    for id in made { isTaken = try change(#"{"deleteAlbum":\#(id)}"#, on: connection) != nil && isTaken }
    return isTaken
  }

  private func list(_ ids: some Sequence<AssetID>) -> String { ids.map(String.init).joined(separator: ",") }
}
