import ChangeDetails
import PhotoModel

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive

/// A client that disconnects. It keeps a list and a token, and resumes with both, also after a restart of photod.
struct SleepingClient {
  let options: FetchOptions
  var ids: [AssetID]
  var sequence: Int64
  /// The assets at that time.
  var assets: [AssetID: Asset]
}

// A client that resumes gets the changes that happened, and those agree with the history.
extension Simulation {
  private static let sleepingOptions = [
    FetchOptions(includeHidden: true), FetchOptions(collection: "smart:favorites", includeHidden: true),
    FetchOptions(predicate: "path CONTAINS '/x/'"),
  ]

  /// The clients resume and disconnect again.
  func wakeClients() throws {
    guard let live, let catalog, live.feed.sequence == sequence else { return }
    if sleepers.isEmpty {
      sleepers = Self.sleepingOptions.map { SleepingClient(options: $0, ids: [], sequence: -1, assets: [:]) }
    }
    for index in sleepers.indices {
      let client = sleepers[index]
      let list = try live.lists.current(try catalog.read { try $0.plan(client.options) })
      if client.sequence >= 0, list.sequence > client.sequence { try resume(client, list, live, catalog) }
      sleepers[index].ids = list.ids
      sleepers[index].sequence = list.sequence
      sleepers[index].assets = assets
    }
  }

  private func resume(
    _ client: SleepingClient, _ list: FetchedList, _ live: LiveLibrary, _ catalog: Catalog
  ) throws {
    let effects = try live.commits.effects(after: client.sequence, through: list.sequence)
    let details = FetchResultChangeDetails.full(from: client.ids, to: list.ids, touched: effects.touched)
    let told = Set(
      details?.changedAfter.flatMap { list.ids[$0.start..<$0.start + $0.count] } ?? [])
    let changes = try catalog.read { try $0.persistentChanges(after: client.sequence, limit: 100_000) }
    let updated = Set(changes.flatMap { $0.updatedAssets + $0.insertedAssets })
    // The history names a folder that was renamed, or that came or went, and no photo in it.
    let folders = Set(
      changes.flatMap { change in
        change.renamedDirectories.flatMap { [$0.fromPath, $0.toPath] } + change.rootAvailability.map(\.path)
      }.map { FilePath.bytes($0) })
    func isInChangedFolder(_ asset: Asset?) -> Bool {
      asset?.resources.contains { resource in
        let path = FilePath.bytes(resource.path)
        return folders.contains { CatalogTree.contains($0, path) }
      } ?? false
    }
    for id in Set(client.ids).intersection(list.ids).sorted() {
      if assets[id] != client.assets[id] || updated.contains(id) || told.contains(id) { resumedCount += 1 }
      if assets[id] != client.assets[id], !told.contains(id) {
        throw SimulationFailure("asset \(id) differs, and a client that resumes is told nothing")
      }
      if updated.contains(id), !told.contains(id) {
        throw SimulationFailure("the history tells an update of asset \(id), a client that resumes is told nothing")
      }
      if told.contains(id), !updated.contains(id), !isInChangedFolder(client.assets[id]), !isInChangedFolder(assets[id])
      {
        throw SimulationFailure("a client that resumes is told of asset \(id), the history tells nothing")
      }
    }
  }
}
