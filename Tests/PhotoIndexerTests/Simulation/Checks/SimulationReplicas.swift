import ChangeDetails
import PhotoLive
import PhotoModel

@testable import PhotoCatalog
@testable import PhotoIndexer

// Lists as observing clients hold them.
extension Simulation {
  func makeReplicas(_ catalog: Catalog, _ live: LiveLibrary) throws {
    let options = [
      FetchOptions(), FetchOptions(collection: "smart:favorites", includeHidden: true),
      FetchOptions(collection: "smart:duplicates"), FetchOptions(collection: "smart:recentlyAdded"),
      FetchOptions(
        predicate: "camera.model CONTAINS '1'", sortDescriptors: [SortDescriptor(key: "filename", ascending: true)],
        excludeUnavailable: true),
    ]
    let old = replicas
    replicas = try options.map { option in
      let plan = try catalog.read { try $0.plan(option) }
      if let known = old.first(where: { $0.options == option }) {
        return Replica(options: option, plan: plan, ids: known.ids, sequence: known.sequence)
      }
      let list = try live.lists.current(plan)
      return Replica(options: option, plan: plan, ids: list.ids, sequence: list.sequence)
    }
  }

  /// Checks as an observing client: its list and the difference give the list of a new fetch.
  func advance(_ replica: inout Replica, _ live: LiveLibrary, _ catalog: Catalog) throws {
    let list = try live.lists.current(replica.plan)
    guard list.sequence > replica.sequence else { return }
    let (touched, fresh) = try catalog.read { reader in
      (try reader.touched(after: replica.sequence, through: list.sequence), try reader.ids(replica.plan))
    }
    if let details = FetchResultChangeDetails.full(from: replica.ids, to: list.ids, touched: touched) {
      replica.ids = try details.applied(to: replica.ids)
    }
    replica.sequence = list.sequence
    guard replica.ids == fresh, ListDigest(of: fresh).description == list.digest else {
      throw SimulationFailure("a list of \(replica.options) is \(replica.ids), and fetched \(fresh)")
    }
  }
}
