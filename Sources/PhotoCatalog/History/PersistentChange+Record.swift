import ChangeDetails
import PhotoModel

extension PersistentChange {
  /// A commit as the history has it.
  package init(_ record: CommitRecord, token: ChangeToken, date: WallTime, origin: String) {
    self.init(
      token: token.description, date: PhotoDate(date), origin: origin,
      insertedAssets: record.insertedAssets.sorted(),
      updatedAssets: record.updatedAssets.filter { TouchedAssets.isChange($0.value) }.keys.sorted(),
      deletedAssets: record.deletedAssets.sorted(),
      changedFields: record.updatedAssets.values.reduce(into: ChangedFields()) { $0.formUnion($1) }.names,
      insertedCollections: record.insertedCollections.sorted(),
      updatedCollections: record.updatedCollections.sorted(), deletedCollections: record.deletedCollections.sorted(),
      renamedDirectories: record.renamedDirectories.map {
        RenamedDirectory(fromPath: FilePath.text($0.fromPath), toPath: FilePath.text($0.toPath))
      },
      rootAvailability: record.rootAvailability.map {
        RootAvailability(path: FilePath.text($0.path), available: $0.isAvailable)
      })
  }
}
