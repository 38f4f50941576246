import Foundation
import PhotoModel

extension PhotoModel.SortDescriptor {
  /// The sort descriptor of photod for one of Foundation.
  ///
  /// photod sorts texts by their scalars without regard to case, and not by the rules of a language. The comparators
  /// of the descriptor have no effect. An absent value is the smallest, as in Foundation.
  ///
  /// - Throws: ``PredicateTranslationError`` if photod has no sort key for the key path.
  public init(_ descriptor: Foundation.SortDescriptor<Asset>) throws(PredicateTranslationError) {
    self = try Self.descriptor(descriptor.keyPath, descriptor.order)
  }

  /// The sort descriptor of photod for a comparator of Foundation. The same holds as for a sort descriptor.
  ///
  /// - Throws: ``PredicateTranslationError`` if photod has no sort key for the key path.
  public init(_ comparator: KeyPathComparator<Asset>) throws(PredicateTranslationError) {
    self = try Self.descriptor(comparator.keyPath, comparator.order)
  }

  /// - Returns: nil for no descriptors.
  static func list(_ descriptors: [Foundation.SortDescriptor<Asset>]) throws(PredicateTranslationError) -> [Self]? {
    var list: [Self] = []
    for descriptor in descriptors { list.append(try Self(descriptor)) }
    return list.isEmpty ? nil : list
  }

  private static func descriptor(
    _ keyPath: PartialKeyPath<Asset>?, _ order: SortOrder
  ) throws(PredicateTranslationError) -> Self {
    guard let keyPath else {
      throw PredicateTranslationError(
        expression: "SortDescriptor(comparator:)", reason: "it has no key path", remedy: remedy)
    }
    guard let key = keys.first(where: { $0.keyPath == keyPath })?.key else {
      throw PredicateTranslationError(
        expression: "\(keyPath)", reason: "photod has no sort key for it", remedy: remedy)
    }
    return Self(key: key, ascending: order == .forward)
  }

  private static var remedy: String {
    "Sort by one of \(keys.map { "\($0.keyPath)" }.joined(separator: ", ")), or sort the assets in the program."
  }

  private static var keys: [(keyPath: PartialKeyPath<Asset>, key: String)] {
    [
      (\.creationDate, "creationDate"), (\.modificationDate, "modificationDate"), (\.addedDate, "addedDate"),
      (\.resources[0].filename, "filename"), (\.resources[0].byteCount, "byteCount"), (\.pixelWidth, "pixelWidth"),
      (\.pixelHeight, "pixelHeight"), (\.durationSeconds, "durationSeconds"), (\.rating, "rating"),
      (\.title, "title"), (\.mediaType, "mediaType"), (\.isFavorite, "isFavorite"), (\.id, "id"),
    ]
  }
}
