import Foundation
import Testing

@testable import PhotoContract

/// The Swift types of the messages are those of the .varlink files: names, types, optionality and enum words.
struct ContractTests {
  @Test func theLibraryMessagesAreThoseOfTheInterfaceFile() throws {
    #expect(try ContractMessages.library.differences(from: InterfaceDefinition.library) == [])
  }

  @Test func theManageMessagesAreThoseOfTheInterfaceFile() throws {
    #expect(try ContractMessages.manage.differences(from: InterfaceDefinition.manage) == [])
  }

  @Test func theImageMessagesAreThoseOfTheInterfaceFile() throws {
    #expect(try ContractMessages.images.differences(from: InterfaceDefinition.images) == [])
  }

  @Test(arguments: [
    (
      "isFavorite: bool, isHidden: bool", "favorite: bool, isHidden: bool",
      "Asset.isFavorite is not in the interface file"
    ),
    ("mediaSubtypes: []string,", "", "Asset.mediaSubtypes is not in the interface file"),
    (
      "title: string,\n  parentID: ?int,\n  path", "title: ?string,\n  parentID: ?int,\n  path",
      "AssetCollection.title is optional only in the interface file"
    ),
    (" keyAssetID: ?int,", " keyAssetID: int,", "AssetCollection.keyAssetID is optional only in Swift"),
    (
      "(user, metadata, filename, file)", "(user, metadata, filename, file, guess)",
      "Asset.creationDateSource: the words are"
    ),
    ("mediaTypes: ?[](image,", "mediaTypes: ?[](picture,", "FetchOptions.mediaTypes: the words are"),
    ("kinds: ?[](smartAlbum, album,", "kinds: ?[](album,", "FetchCollections request.kinds: the words are"),
    ("AssetCollection (\n  id: int,", "AssetCollection (\n  id: (one, two),", "AssetCollection.id: it is"),
    (
      "title: string,\n  parentID: ?int,\n  path", "title: (one, two),\n  parentID: ?int,\n  path",
      "AssetCollection.title: Swift reads its words as text"
    ),
    ("(user, metadata, filename, file)", "(user, metadata, filename)", "Asset.creationDateSource: the words are"),
    ("requestIndex: int", "requestIndex: string", "error ChangeRejected.requestIndex: it is"),
    ("fetchLimit: ?int", "fetchLimit: ?int, later: ?int", "FetchOptions.later is unknown in Swift"),
    ("error TimedOut", "error Later", "error Later is unknown in Swift"),
    ("method Rescan(path", "method Later() -> ()\nmethod Rescan(path", "method Later is unknown in Swift"),
    ("type Move (", "type Later (word: string)\ntype Move (", "type Later is unknown in Swift"),
  ])
  func aDifferenceIsFound(_ before: String, _ after: String, _ expected: String) throws {
    let text = InterfaceDefinition.library.replacing(before, with: after)
    try #require(text != InterfaceDefinition.library)
    let differences = try ContractMessages.library.differences(from: text)
    #expect(differences.contains { $0.hasPrefix(expected) }, "\(differences)")
  }
}
