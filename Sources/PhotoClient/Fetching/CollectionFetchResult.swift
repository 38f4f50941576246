import PhotoContract
import PhotoModel

/// The result of a fetch of collections: albums, smart albums, or folders of albums, as they were at one time.
///
/// The lists are short, so all of it is in memory.
public struct CollectionFetchResult: Sendable {
  /// The place of the snapshot in the history of the library.
  public let token: String
  /// The collections, in the order of the library.
  public let collections: [AssetCollection]

  let query: CollectionQuery
  let library: PhotoLibrary

  init(_ query: CollectionQuery, _ collections: [AssetCollection], token: String, of library: PhotoLibrary) {
    self.query = query
    self.collections = collections
    self.token = token
    self.library = library
  }

  /// The first collection; `nil` if there is none.
  ///
  /// - Complexity: O(1)
  public var firstObject: AssetCollection? { collections.first }
  /// The last collection; `nil` if there is none.
  ///
  /// - Complexity: O(1)
  public var lastObject: AssetCollection? { collections.last }

  /// The position of a collection, or `nil` if the list does not have it.
  ///
  /// - Complexity: O(n)
  public func index(of id: CollectionID) -> Int? { collections.firstIndex { $0.id == id } }

  /// Whether the list has a collection.
  ///
  /// - Complexity: O(n)
  public func contains(_ id: CollectionID) -> Bool { index(of: id) != nil }
}

extension CollectionFetchResult: RandomAccessCollection {
  /// The position of the first collection.
  ///
  /// - Complexity: O(1)
  public var startIndex: Int { 0 }
  /// The position after the last collection.
  ///
  /// - Complexity: O(1)
  public var endIndex: Int { collections.count }
  /// The collection at a position.
  ///
  /// - Complexity: O(1)
  public subscript(index: Int) -> AssetCollection { collections[index] }
}

/// The collections that a fetch selects.
struct CollectionQuery: Hashable, Sendable {
  enum Place: Hashable {
    case anywhere
    /// A folder of albums; nil for the top level of the collections that a person made.
    case folder(CollectionID?)
  }

  var kinds: [AssetCollection.Kind]?
  var subtype: String?
  var asset: AssetID?
  var place = Place.anywhere

  /// Selects from the collections of ``kinds``, which contain ``asset`` if there is one.
  func selected(from collections: [AssetCollection]) -> [AssetCollection] {
    collections.filter { collection in
      guard subtype == nil || collection.subtype == subtype else { return false }
      switch place {
      case .anywhere: return true
      case .folder(let parent):
        let isOfPerson = collection.kind != .folderAlbum && collection.subtype == nil
        return isOfPerson && collection.parentID == parent
      }
    }
  }
}
