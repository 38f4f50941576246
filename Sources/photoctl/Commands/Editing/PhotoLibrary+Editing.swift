import PhotoClient
import PhotoContract
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PhotoLibrary {
  /// All calls of one command are undone together.
  private static let undoGroup = UUID().uuidString

  @discardableResult
  func makeChanges(_ requests: [ChangeRequest]) async throws -> ChangeResult {
    try await performChanges(requests, undoGroup: Self.undoGroup)
  }

  /// Makes one change.
  ///
  /// - Returns: false if all was as requested already. An older photod does not tell.
  func changes(_ request: ChangeRequest) async throws -> Bool { try await makeChanges([request]).changed ?? true }

  /// The most ids in one call, by the contract.
  static var mostPerChange: Int { RequestLimits.maximumChangedIDs }

  /// Makes one change of many assets, some at a time, or none if one of them is not in the library.
  ///
  /// - Parameters:
  ///   - mostPerCall: the most assets in one call.
  ///   - unlessEmpty: whether nothing is changed if there are no assets.
  ///   - request: the request for some of the assets. They are in their order.
  ///   - made: called with the result of each call.
  /// - Returns: the number of assets that were changed. The others were as requested already.
  @discardableResult
  func change(
    _ assets: FoundAssets, mostPerCall: Int = mostPerChange, unlessEmpty: Bool = true,
    _ request: ([AssetID]) -> ChangeRequest, made: (ChangeResult) -> Void = { _ in }
  ) async throws -> Int {
    let ids = assets.ids
    if unlessEmpty, ids.isEmpty { return 0 }
    var doneCount = 0
    var changedCount = 0
    do {
      // Several calls are several transactions. So every asset is looked up before the first call.
      if ids.count > mostPerCall { try await checkAreKnown(ids) }
      repeat {
        let part = Array(ids[doneCount..<min(doneCount + mostPerCall, ids.count)])
        let result = try await makeChanges([request(part)])
        made(result)
        doneCount += part.count
        // An older photod does not count them. A call may place an asset again that an earlier one has placed.
        changedCount += min(result.changedAssetCount ?? part.count, part.count)
      } while doneCount < ids.count
      return changedCount
    } catch PhotoLibraryError.noSuchAsset(let missing) where doneCount == 0 {
      throw Failure(noSuchAssets: missing, names: assets.names) ?? PhotoLibraryError.noSuchAsset(ids: missing)
    } catch let error as PhotoLibraryError where doneCount > 0 {
      throw Failure(error, after: doneCount, of: ids.count)
    }
  }

  /// Throws if one of the assets is not in the library.
  func check(_ assets: FoundAssets) async throws {
    do { try await checkAreKnown(assets.ids) } catch PhotoLibraryError.noSuchAsset(let missing) {
      throw Failure(noSuchAssets: missing, names: assets.names) ?? PhotoLibraryError.noSuchAsset(ids: missing)
    }
  }

  private func checkAreKnown(_ ids: [AssetID]) async throws {
    var missing: [AssetID] = []
    for start in stride(from: 0, to: ids.count, by: Self.mostPerChange) {
      let part = Array(ids[start..<min(start + Self.mostPerChange, ids.count)])
      let known = Set(try await assets(part).map(\.id))
      missing += part.filter { !known.contains($0) }
    }
    guard missing.isEmpty else { throw PhotoLibraryError.noSuchAsset(ids: missing) }
  }

  /// Changes all of these assets, or none if one is not in the library. The summary goes to standard error.
  ///
  /// - Parameters:
  ///   - onlyHidden: a query of the command line finds only hidden assets.
  ///   - isDryRun: changes nothing.
  ///   - printsJSON: prints the ids to standard output.
  ///   - summary: the words after the number, for one asset and for several.
  ///   - unchanged: the same for the assets that were as requested already.
  func edit(
    _ chosen: ChosenAssets, onlyHidden: Bool = false, isDryRun: Bool, printsJSON: Bool,
    summary: Nouns, unchanged: Nouns, _ edit: ([AssetID]) -> ChangeRequest.EditAsset
  ) async throws {
    let assets = try await chosen.find(in: self, onlyHidden: onlyHidden)
    var changedCount = assets.ids.count
    if isDryRun {
      try await check(assets)
    } else {
      changedCount = try await change(assets) { ChangeRequest(editAsset: edit($0)) }
    }
    try Self.report(
      assets.ids, changedCount: changedCount, printsJSON: printsJSON, summary: summary, unchanged: unchanged)
  }

  /// The words after a number, for one asset and for several.
  typealias Nouns = (one: String, many: String)

  /// Prints the ids of the assets of a change, and to standard error how many of them it changed.
  ///
  /// - Parameters:
  ///   - changedCount: the number of assets that it changed; nil if it changed all of `ids`.
  ///   - count: the number of assets that were chosen; nil if `ids` are all of them.
  static func report(
    _ ids: [AssetID], changedCount: Int? = nil, of count: Int? = nil, printsJSON: Bool, summary: Nouns,
    unchanged: Nouns? = nil
  ) throws {
    try putIDs(ids, asJSON: printsJSON)
    Output.complain(
      text(changedCount ?? ids.count, of: count ?? ids.count, summary: summary, unchanged: unchanged) + "\n")
  }

  /// Prints the ids of the assets of a change, if they are asked for.
  static func putIDs(_ ids: [AssetID], asJSON: Bool) throws {
    struct Changed: Encodable { let ids: [AssetID] }
    if asJSON { try Output.put(JSONText.indented(Changed(ids: ids))) }
  }

  /// `2 photos are favorites now; 1 photo was a favorite already`
  static func text(_ changedCount: Int, of count: Int, summary: Nouns, unchanged: Nouns?) -> String {
    if count == 0 { return "nothing to do: no photos were found" }
    let changed = Text.count(changedCount, summary.one, summary.many)
    guard changedCount < count, let unchanged else { return changed }
    let rest = Text.count(count - changedCount, unchanged.one, unchanged.many)
    return changedCount == 0 ? "nothing to do: \(rest)" : "\(changed); \(rest)"
  }
}

extension Failure {
  /// The failure of a change that needs several calls, after some of them. The message of the failed call is about that
  /// call only, and may say that nothing was changed.
  fileprivate init(_ error: PhotoLibraryError, after doneCount: Int, of count: Int) {
    let part = "the first \(Text.grouped(doneCount)) of \(Text.grouped(count)) photos"
    self.init(error, "The change was made for", part)
  }

  /// - Parameters:
  ///   - done: the begin of the sentence that says what was done, up to its verb.
  ///   - part: the rest of this sentence.
  init(_ error: PhotoLibraryError, _ done: String, _ part: String) {
    self.init(error, in: "")
    // If photod ended, the failed call may have been carried out, too, and the changes that can be undone are forgotten.
    let hasEnded = Reconnection.isOutage(error)
    problem += ". \(done) \(hasEnded ? "at least " : "")\(part)"
    remedy =
      hasEnded
      ? "It can't be undone, because photod has ended. Look at these photos before you repeat the command."
      : "`photoctl undo` takes that back, unless `photoctl undo --list` has a reason against it. "
        + "When the cause is removed, repeat the command."
  }
}
