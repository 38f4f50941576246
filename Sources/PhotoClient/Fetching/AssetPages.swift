import PhotoModel
import Synchronization

/// The assets that the results of one fetch have loaded. Results that follow each other share it, so a change of the list
/// does not load the assets again that are shown.
///
/// Assets are kept by id, not by place, so a place never gives the asset that was there before.
///
/// At most two calls run at a time. The newest request is served first, because a person who scrolls wants what is on the
/// screen now. A request is forgotten if all of its tasks were cancelled before its turn.
final class AssetPages: Sendable {
  /// The number of assets that are loaded together.
  static let pageSize = 100
  /// The most assets that are kept: some screens in both directions.
  static let capacity = 2_000
  /// The most assets for which a caller should queue loads at a time. The cost of the queue grows with the square of its
  /// length.
  static let mostAtOnce = 2_000
  private static let maximumRunning = 2
  /// Older pages that were to be prefetched are forgotten.
  private static let maximumPrefetches = 2

  private struct Kept {
    /// nil if the library had no asset with this id.
    let asset: Asset?
    var lastUse: UInt64
  }

  private struct Load {
    let ids: [AssetID]
    let result = PendingValue<[AssetID: Asset]>()
    /// How many tasks wait for it. A prefetch begins with none.
    var interest = 0
    var isPrefetch: Bool
    /// The assets that changed while they were loaded. The reply may have them as they were before.
    var outdated: Set<AssetID> = []
  }

  private struct State {
    var kept: [AssetID: Kept] = [:]
    var uses: UInt64 = 0
    var loads: [Int: Load] = [:]
    var lastLoad = 0
    /// The load that brings an asset.
    var loading: [AssetID: Int] = [:]
    /// The loads that have not begun, the newest last.
    var queue: [Int] = []
    var running = 0
  }

  private let state = Mutex(State())
  private let library: PhotoLibrary

  init(of library: PhotoLibrary) { self.library = library }

  // MARK: - Requests

  /// The assets with these ids, parallel to them; nil for an id without an asset.
  ///
  /// - Parameters:
  ///   - page: the ids to load if one of `ids` is missing: those of the page around them.
  ///   - next: the ids that will probably be asked for next. They are loaded after `page`.
  func assets(_ ids: [AssetID], page: [AssetID], next: [AssetID] = []) async throws -> [Asset?] {
    var found: [AssetID: Asset?] = [:]
    let wanted = Set(ids)
    typealias Awaited = (number: Int, ids: [AssetID], result: PendingValue<[AssetID: Asset]>)
    let loads = state.withLock { state -> [Awaited] in
      state.uses += 1
      /// The missing ids by the load that brings them. A load may also bring assets that are found already, as they were
      /// before a change.
      var missing: [Int: [AssetID]] = [:]
      for id in wanted {
        guard let kept = state.kept[id] else { continue }
        state.kept[id]?.lastUse = state.uses
        found.updateValue(kept.asset, forKey: id)
      }
      if found.count < wanted.count {
        Self.enqueue(page, isPrefetch: false, in: &state)
        for id in wanted where found[id] == nil {
          if let number = state.loading[id] { missing[number, default: []].append(id) }
        }
      }
      let numbers = missing.keys.sorted()
      // These are the newest requests now. The first part is last in the queue, and is loaded first.
      for number in numbers.reversed() {
        state.loads[number]?.interest += 1
        state.loads[number]?.isPrefetch = false
        if let place = state.queue.firstIndex(of: number) { state.queue.append(state.queue.remove(at: place)) }
      }
      return numbers.compactMap { number in
        state.loads[number].map { (number, missing[number] ?? [], $0.result) }
      }
    }
    startLoads()
    if !next.isEmpty { prefetch(next) }
    defer {
      state.withLock { state in for load in loads { state.loads[load.number]?.interest -= 1 } }
    }
    for load in loads {
      let assets = try await load.result.value()
      for id in load.ids { found.updateValue(assets[id], forKey: id) }
    }
    // An asset that came with a change meanwhile is newer than that of the load.
    let kept = state.withLock { state in ids.map { state.kept[$0] } }
    return zip(ids, kept).map { id, kept in kept.map(\.asset) ?? found[id] ?? nil }
  }

  /// The assets with these ids, parallel to them, of which there may be many; nil for an id without an asset.
  func assets(_ ids: [AssetID]) async throws -> [Asset?] {
    var found: [Asset?] = []
    for start in stride(from: 0, to: ids.count, by: Self.mostAtOnce) {
      let part = Array(ids[start..<min(start + Self.mostAtOnce, ids.count)])
      found += try await assets(part, page: part)
    }
    return found
  }

  /// Loads assets that will probably be asked for soon.
  func prefetch(_ ids: [AssetID]) {
    state.withLock { state in
      Self.enqueue(ids, isPrefetch: true, in: &state)
      let waiting = state.queue.filter { state.loads[$0]?.isPrefetch == true }
      for number in waiting.dropLast(Self.maximumPrefetches) { Self.forget(number, in: &state) }
    }
    startLoads()
  }

  /// Keeps assets as they came with a change.
  func keep(_ assets: [Asset]) {
    state.withLock { state in
      state.uses += 1
      for asset in assets { state.kept[asset.id] = Kept(asset: asset, lastUse: state.uses) }
      Self.evict(in: &state)
    }
  }

  /// Forgets assets that have changed. Requests that come later load them again.
  func invalidate(_ ids: some Sequence<AssetID>) {
    state.withLock { state in
      for id in ids {
        state.kept[id] = nil
        if let number = state.loading.removeValue(forKey: id) { state.loads[number]?.outdated.insert(id) }
      }
    }
  }

  /// Forgets all assets.
  func invalidateAll() {
    state.withLock { state in
      state.kept = [:]
      for (id, number) in state.loading { state.loads[number]?.outdated.insert(id) }
      state.loading = [:]
    }
  }

  // MARK: - Loads

  /// Adds loads of the ids that are neither kept nor being loaded.
  private static func enqueue(_ ids: [AssetID], isPrefetch: Bool, in state: inout State) {
    var missing = ids.filter { state.kept[$0] == nil && state.loading[$0] == nil }[...]
    var numbers: [Int] = []
    while !missing.isEmpty {
      state.lastLoad += 1
      let load = Load(ids: Array(missing.prefix(pageSize)), isPrefetch: isPrefetch)
      for id in load.ids { state.loading[id] = state.lastLoad }
      state.loads[state.lastLoad] = load
      numbers.append(state.lastLoad)
      missing = missing.dropFirst(pageSize)
    }
    // The first part is last in the queue, and is loaded first.
    state.queue += numbers.reversed()
  }

  private static func forget(_ number: Int, in state: inout State) {
    guard let load = state.loads.removeValue(forKey: number) else { return }
    for id in load.ids where state.loading[id] == number { state.loading[id] = nil }
    state.queue.removeAll { $0 == number }
  }

  private func startLoads() {
    while let (number, ids) = nextLoad() {
      Task {
        let result: Result<[AssetID: Asset], any Error>
        do {
          let assets = try await library.patiently { try await self.library.assets(ids) }
          result = .success(Dictionary(assets.map { ($0.id, $0) }) { first, _ in first })
        } catch {
          result = .failure(error)
        }
        finish(number, result)
        startLoads()
      }
    }
  }

  private func nextLoad() -> (Int, [AssetID])? {
    state.withLock { state in
      for number in state.queue where state.loads[number].map({ $0.interest == 0 && !$0.isPrefetch }) ?? true {
        Self.forget(number, in: &state)
      }
      guard state.running < Self.maximumRunning,
        let place = state.queue.lastIndex(where: { state.loads[$0]?.isPrefetch == false }) ?? state.queue.indices.last
      else { return nil }
      let number = state.queue.remove(at: place)
      guard let ids = state.loads[number]?.ids else { return nil }
      state.running += 1
      return (number, ids)
    }
  }

  private func finish(_ number: Int, _ result: Result<[AssetID: Asset], any Error>) {
    let load = state.withLock { state -> Load? in
      state.running -= 1
      guard let load = state.loads[number] else { return nil }
      Self.forget(number, in: &state)
      if case .success(let assets) = result {
        state.uses += 1
        for id in load.ids where !load.outdated.contains(id) {
          state.kept[id] = Kept(asset: assets[id], lastUse: state.uses)
        }
        Self.evict(in: &state)
      }
      return load
    }
    load?.result.resolve(result)
  }

  /// Removes the assets that were not used for the longest time. It removes a quarter at once, so that the cost of sorting
  /// is spread over many loads.
  private static func evict(in state: inout State) {
    guard state.kept.count > capacity else { return }
    let oldest = state.kept.sorted { $0.value.lastUse < $1.value.lastUse }
    for (id, _) in oldest.prefix(state.kept.count - capacity * 3 / 4) { state.kept[id] = nil }
  }

  /// The number of assets that are kept, for tests.
  var keptCount: Int { state.withLock { $0.kept.count } }
  /// The number of loads that have not begun, for tests.
  var queuedCount: Int { state.withLock { $0.queue.count } }
}
