import PhotoModel

// Lists of collections are kept and compared by the same code as lists of assets, and they are described by the same
// messages. The elements of all these lists have the type `AssetID`, because generic code would be slower for a million
// assets. In a list of collections, each element has the number of a collection.

extension CollectionID {
  /// The collection that an element of a list of collections stands for.
  package init(element: AssetID) { self.init(rawValue: element.rawValue) }

  /// The element that stands for the collection in a list of collections.
  package var element: AssetID { AssetID(rawValue: rawValue) }
}
