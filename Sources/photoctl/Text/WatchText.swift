import ChangeDetails
import PhotoClient
import PhotoContract
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Formats the library's history for a person.
struct HistoryText {
  private let style: Style
  private var seen = SeenPaths()
  /// The albums that this watch has seen, to name deleted ones, and the differences of changed ones.
  private var albums: [CollectionID: AssetCollection] = [:]
  /// Whether ``albums`` has the counts before the next commit. Commits with photos change them, and the albums are not
  /// fetched then.
  private var hasCounts = false

  /// The assets of larger changes are not fetched for their paths.
  static let maximumRemembered = 1_000

  init(style: Style = .plain) { self.style = style }

  /// Remembers the paths of assets, for the time when they move or are removed.
  mutating func remember(_ paths: SeenPaths) { seen = paths }

  /// Remembers the titles of albums.
  mutating func remember(_ albums: [AssetCollection]) {
    for album in albums { self.albums[album.id] = album }
    hasCounts = true
  }

  /// Whether the text needs the present albums: there are new ones, or the change is about albums only.
  static func needsAlbums(_ change: PersistentChange) -> Bool {
    !change.insertedCollections.isEmpty || (isOnlyOfAlbums(change) && !change.updatedCollections.isEmpty)
  }

  /// Whether the commit has no photos and no folders. In all others, every changed asset updates the albums that count
  /// it.
  private static func isOnlyOfAlbums(_ change: PersistentChange) -> Bool {
    change.insertedAssets.isEmpty && change.updatedAssets.isEmpty && change.deletedAssets.isEmpty
      && change.renamedDirectories.isEmpty && change.rootAvailability.isEmpty
  }

  /// `10:15:02  watcher  +3 ~1 -0  metadata`, followed by the details.
  ///
  /// - Parameters:
  ///   - named: the known ones among the assets that were inserted or updated.
  ///   - present: the albums after the change, if ``needsAlbums(_:)``.
  mutating func text(_ change: PersistentChange, named: [Asset], albums present: [AssetCollection] = []) -> String {
    let (before, hadCounts) = (albums, hasCounts)
    hasCounts = false
    if !present.isEmpty { remember(present) }
    var heads: [String] = []
    if !(change.insertedAssets.isEmpty && change.updatedAssets.isEmpty && change.deletedAssets.isEmpty) {
      heads.append(
        WatchText.numbers(
          change.insertedAssets.count, change.updatedAssets.count, change.deletedAssets.count))
      if let fields = change.changedFields, !fields.isEmpty { heads.append(fields.joined(separator: " ")) }
    }
    var lines: [String] = []
    for rename in change.renamedDirectories {
      if seen.isNew(change) {
        seen.rename(rename)
        let renaming = FolderRenaming(rename)
        for (id, album) in albums {
          if let path = album.path.flatMap(renaming.path) { albums[id]?.path = path }
        }
      }
      lines.append("renamed \(Printable.text(rename.fromPath)) to \(Printable.text(rename.toPath))")
    }
    for root in change.rootAvailability {
      lines.append("\(Printable.text(root.path)) is \(root.available ? "back" : "offline")")
    }
    if !(change.insertedCollections.isEmpty && change.deletedCollections.isEmpty) || (heads.isEmpty && lines.isEmpty) {
      heads.append(
        "albums "
          + WatchText.numbers(
            change.insertedCollections.count, change.updatedCollections.count, change.deletedCollections.count))
    }
    if heads.isEmpty { heads.append(lines.removeFirst()) }
    if change.insertedCollections.count <= WatchText.maximumNamed {
      lines += change.insertedCollections.compactMap(name).map { style.good("+ \($0)") }
    }
    if Self.isOnlyOfAlbums(change), change.updatedCollections.count <= WatchText.maximumNamed {
      lines += change.updatedCollections.compactMap { id in
        albums[id].map { album in
          var former = before[id] ?? album
          if !hadCounts { former.count = album.count }
          let present = hadCounts ? "" : "  \(Text.count(album.count, "photo", "photos")) now"
          let line = difference(from: former, to: album)
          // The cause is unknown, such as another photo in the album.
          return style.doubtful("~ \(line == Self.name(album) ? line + present : line)")
        }
      }
    }
    if change.deletedCollections.count <= WatchText.maximumNamed {
      lines += change.deletedCollections.compactMap(name).map { style.bad("- \($0)") }
    }
    for id in change.deletedCollections { albums[id] = nil }
    let assets = Dictionary(named.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    // A commit from before the paths were read inserted assets that are among them.
    let text = WatchText(
      style: style, assets: assets, seen: seen, largestID: seen.isNew(change) ? seen.largestID : nil)
    lines += text.inserted(change.insertedAssets) + text.changed(change.updatedAssets)
    lines += text.removed(change.deletedAssets)
    seen.forget(change.deletedAssets)
    for asset in named { seen.note(asset) }
    return WatchText.text(
      at: WatchText.clock(change.date), origin: change.origin, head: heads, lines)
  }

  /// `album Rome`, or `folder /p/2024`; nil for an album that this watch has not seen.
  private func name(_ id: CollectionID) -> String? { albums[id].map(Self.name) }

  private static func name(_ album: AssetCollection) -> String {
    if let path = album.path { return "folder \(Printable.text(path))" }
    return "\(album.kind == .folder ? "folder of albums" : "album") \(Printable.text(album.title))"
  }

  /// `album Rome → Roma  3 → 5 photos  to the folder of albums Trips`: the differences in name, count and folder. There
  /// are none if its order, its cover or its query changed.
  private func difference(from before: AssetCollection, to after: AssetCollection) -> String {
    var parts = [Self.name(before)]
    if before.title != after.title { parts[0] += " → \(Printable.text(after.title))" }
    if before.count != after.count {
      parts.append("\(Text.grouped(before.count)) → \(Text.count(after.count, "photo", "photos"))")
    }
    if before.parentID != after.parentID {
      parts.append("to the \(after.parentID.map { name($0) ?? "folder of albums id:\($0)" } ?? "top level")")
    }
    return parts.joined(separator: "  ")
  }
}

/// Formats lines about changes for a person.
struct WatchText {
  let style: Style
  let assets: [AssetID: Asset]
  /// The paths before the change.
  let seen: SeenPaths
  /// The largest id before the change; nil if it is unknown, or if old assets come into the list as well.
  var largestID: AssetID?

  /// If more assets changed, they are only counted.
  static let maximumNamed = 10

  /// An asset with an id that is not new was deleted before.
  func inserted(_ ids: [AssetID]) -> [String] {
    lines(ids) { id in
      let isBack = largestID.map { id <= $0 } ?? false
      let name = assets[id]?.listedPath.map(Printable.text) ?? "asset \(id)"
      return style.good("+ \(name)\(isBack ? "  (a deleted photo is back)" : "")")
    }
  }

  /// Shows the former path, too, if it is another.
  func changed(_ ids: [AssetID]) -> [String] {
    lines(ids) { id in
      let path = assets[id]?.listedPath
      let before = path == nil || seen[id] == path ? nil : seen[id]
      let arrow = before.map { Printable.text($0) + " → " } ?? ""
      return style.doubtful("~ \(arrow)\((path ?? seen[id]).map(Printable.text) ?? "asset \(id)")")
    }
  }

  /// A removed asset is shown by its id, unless this watch has seen its path. If many were removed, only their folder is shown.
  func removed(_ ids: [AssetID]) -> [String] {
    guard ids.count > Self.maximumNamed else {
      let present = Set(assets.values.compactMap(\.listedPath))
      return ids.map { id in
        guard let path = seen[id] else { return style.bad("- asset \(id)") }
        let isReplaced = present.contains(path)
        return style.bad("- \(Printable.text(path))\(isReplaced ? "  (another photo has this path now)" : "")")
      }
    }
    let paths = ids.compactMap { seen[$0] }
    guard let folder = Self.folder(of: paths) else { return [] }
    let known = paths.count == ids.count ? "" : ", \(Text.grouped(paths.count)) of them"
    return [style.bad("- \(Text.grouped(ids.count)) assets\(known) in \(Printable.text(folder))")]
  }

  /// The deepest folder that contains all of these paths; nil if there are none.
  private static func folder(of paths: [String]) -> String? {
    guard let first = paths.first else { return nil }
    var common = first.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    for path in paths.dropFirst() {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      common = common.prefix(zip(common, folder).prefix { $0 == $1 }.count)
    }
    return common.count > 1 ? common.joined(separator: "/") : "/"
  }

  private func lines(_ ids: [AssetID], _ line: (AssetID) -> String) -> [String] {
    ids.count <= Self.maximumNamed ? ids.map(line) : []
  }

  /// `+1,204 ~0 -2`
  static func numbers(_ inserted: Int, _ changed: Int, _ removed: Int) -> String {
    "+\(Text.grouped(inserted)) ~\(Text.grouped(changed)) -\(Text.grouped(removed))"
  }

  static func text(at time: String, origin: String?, head: [String], _ lines: [String]) -> String {
    let who = origin ?? "several"
    let padding = String(repeating: " ", count: max(0, 8 - who.count))
    var text = "\(time)  \(who)\(padding)  \(head.joined(separator: "  "))"
    while text.hasSuffix(" ") { text.removeLast() }
    text += "\n"
    for line in lines { text += "          \(line)\n" }
    return text
  }

  /// The local time of an instant; with the date if it is another day.
  static func clock(_ instant: PhotoDate, now: PhotoDate = WatchText.now) -> String {
    let (date, time) = local(instant)
    return date == local(now).date ? time : "\(date) \(time)"
  }

  /// The local date and time of an instant, to the second: `2024-07-21 10:00:05`.
  static func moment(_ instant: PhotoDate) -> String {
    let (date, time) = local(instant)
    return "\(date) \(time)"
  }

  /// The local date and time of an instant, to the minute: `2024-07-21 10:00`.
  static func minute(_ instant: PhotoDate) -> String { String(moment(instant).dropLast(3)) }

  static var now: PhotoDate { PhotoDate(WallTime.now) }

  private static func local(_ instant: PhotoDate) -> (date: String, time: String) {
    // Instants before 1970 are rounded down, too.
    var seconds = time_t((Double(instant.microseconds) / 1_000_000).rounded(.down))
    var parts = tm()
    localtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (
      "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
      "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    )
  }
}

/// Formats observations of a list for a person. It keeps the list's ids, in order to name removed assets.
struct ObservationText {
  private var replica = FetchResultReplica()
  /// With a token alone there is no list yet, and differences are shown without it.
  private var hasList = false
  /// Whether the album of the list no longer exists.
  private var isOfDeletedAlbum = false
  private var seen = SeenPaths()
  private let style: Style

  /// - Parameters:
  ///   - token: the token from which to continue.
  ///   - ids: the list at `token`, if it is known.
  init(style: Style = .plain, since token: String? = nil, ids: [AssetID]? = nil) {
    self.style = style
    if let token, let ids { (replica, hasList) = (FetchResultReplica(ids: ids, token: token), true) }
  }

  /// Remembers the paths of assets, for the time when they move or are removed.
  mutating func remember(_ paths: SeenPaths) { seen = paths }

  /// The first assets of a complete list, if their paths should be fetched.
  var unseen: [AssetID] { replica.ids.prefix(HistoryText.maximumRemembered).filter { seen[$0] == nil } }

  /// Remembers the paths of assets, for the time when they move or are removed.
  mutating func remember(_ assets: [Asset]) {
    for asset in assets { seen.note(asset) }
  }

  mutating func text(_ observation: Observation, at time: String = WatchText.clock(WatchText.now)) throws -> String {
    let before = replica.ids
    let wasDeleted = isOfDeletedAlbum
    isOfDeletedAlbum = observation.collectionDeleted == true
    let deletion = isOfDeletedAlbum && !wasDeleted ? "\(time)  the album of the list was deleted\n" : ""
    if observation.ids != nil {
      let step: FetchResultReplica.Step
      do {
        step = try replica.apply(observation)
      } catch {
        throw WatchedList.failure(error)
      }
      guard case .list(let reload) = step else { return "" }
      hasList = true
      let why = reload.map { " (\($0.rawValue))" } ?? ""
      return "\(time)  the list has \(Text.count(observation.count, "asset", "assets"))\(why)\n"
        + deletion
    }
    if hasList {
      do {
        _ = try replica.apply(observation)
      } catch {
        throw WatchedList.failure(error)
      }
    }
    guard let details = observation.details else {
      if !deletion.isEmpty { return deletion }
      if wasDeleted, !isOfDeletedAlbum {
        return "\(time)  the album of the list is back: \(Text.count(observation.count, "asset", "assets"))\n"
      }
      return "\(time)  the list has not changed: \(Text.count(observation.count, "asset", "assets"))\n"
    }
    return WatchText.text(
      at: time, origin: observation.origin, head: Self.head(details, observation),
      lines(details, observation, before: before)) + deletion
  }

  private static func head(_ details: FetchResultChangeDetails, _ observation: Observation) -> [String] {
    let removed = details.removedBefore.reduce(0) { $0 + $1.count }
    let changed = details.changedAfter.reduce(0) { $0 + $1.count }
    var counts = WatchText.numbers(details.insertedIDs.count, changed, removed)
    if !details.moves.isEmpty { counts += " >\(Text.grouped(details.moves.count))" }
    var head = [counts, Text.count(observation.count, "asset", "assets")]
    if !details.changedFields.isEmpty { head.append(details.changedFields.joined(separator: " ")) }
    return head
  }

  private mutating func lines(
    _ details: FetchResultChangeDetails, _ observation: Observation, before: [AssetID]
  ) -> [String] {
    let inserted = observation.insertedAssets ?? []
    let changed = observation.changedAssets ?? []
    var assets: [AssetID: Asset] = [:]
    for asset in inserted + changed { assets[asset.id] = asset }
    let text = WatchText(style: style, assets: assets, seen: seen)
    var lines = text.inserted(details.insertedIDs) + text.changed(changed.map(\.id))
    if hasList {
      lines += text.removed(details.removedBefore.flatMap { before[$0.start..<$0.start + $0.count] })
    } else if !details.removedBefore.isEmpty {
      // The difference has the places of removed assets, and only a list has the ids.
      let count = Text.count(details.removedBefore.reduce(0) { $0 + $1.count }, "asset", "assets")
      lines.append(style.bad("- \(count). To see which, also give the ids of the list (--since-ids)."))
    }
    for asset in inserted + changed { seen.note(asset) }
    return lines
  }
}
