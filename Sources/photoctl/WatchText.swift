import PhotoClient
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What happened, for a person.
enum WatchText {
  /// More paths than this are counted instead.
  static let maximumNamed = 10

  /// `10:15:02  watcher  +3 ~1 -0`, and what it was.
  static func text(_ change: PersistentChange, named: [Asset]) -> String {
    var heads: [String] = []
    if !(change.insertedAssets.isEmpty && change.updatedAssets.isEmpty && change.deletedAssets.isEmpty) {
      heads.append(
        "+\(change.insertedAssets.count) ~\(change.updatedAssets.count) -\(change.deletedAssets.count)")
    }
    var lines: [String] = []
    for rename in change.renamedDirectories {
      lines.append("renamed \(Printable.text(rename.fromPath)) to \(Printable.text(rename.toPath))")
    }
    for root in change.rootAvailability {
      lines.append("\(Printable.text(root.path)) is \(root.available ? "back" : "offline")")
    }
    // That the albums of a changed asset count it anew is no news.
    if !(change.insertedCollections.isEmpty && change.deletedCollections.isEmpty) || (heads.isEmpty && lines.isEmpty) {
      heads.append(
        "albums +\(change.insertedCollections.count) ~\(change.updatedCollections.count) "
          + "-\(change.deletedCollections.count)")
    }
    if heads.isEmpty { heads.append(lines.removeFirst()) }
    let assets = Dictionary(named.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    lines += paths("+", change.insertedAssets, assets) + paths("~", change.updatedAssets, assets)
    lines += paths("-", change.deletedAssets, assets)
    return text(at: clock(change.date.microseconds), origin: change.origin, head: heads, lines)
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

  /// A line for each while they are few; an asset that is not there any more has its id only.
  static func paths(_ sign: String, _ ids: [Int64], _ assets: [Int64: Asset]) -> [String] {
    guard ids.count <= maximumNamed else { return [] }
    return ids.map { id in
      assets[id]?.listedPath.map { "\(sign) \(Printable.text($0))" } ?? "\(sign) asset \(id)"
    }
  }

  /// The local time of an instant; with the date, where that is another day.
  static func clock(_ microseconds: Int64, now: Int64 = WatchText.now) -> String {
    let (date, time) = local(microseconds)
    return date == local(now).date ? time : "\(date) \(time)"
  }

  /// Microseconds since 1970.
  static var now: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }

  private static func local(_ microseconds: Int64) -> (date: String, time: String) {
    var seconds = time_t(microseconds / 1_000_000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (
      "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
      "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    )
  }
}

/// Observations of a list, for a person. Keeps the list's ids, to say which went.
struct ObservationText {
  private var replica = FetchResultReplica()
  /// With `since` the list is not here; differences are told without it.
  private var hasList = false

  init() {}

  mutating func text(_ observation: Observation, at time: String = WatchText.clock(WatchText.now)) throws -> String {
    let before = replica.ids
    if observation.ids != nil {
      let step: FetchResultReplica.Step
      do {
        step = try replica.apply(observation)
      } catch {
        throw Self.failure(error)
      }
      guard case .list(let reload) = step else { return "" }
      hasList = true
      let why = reload.map { " (\($0.rawValue))" } ?? ""
      return "\(time)  the list has \(Text.count(observation.count, "asset", "assets"))\(why)\n"
    }
    guard let details = observation.details else {
      return "\(time)  the list is as it was: \(Text.count(observation.count, "asset", "assets"))\n"
    }
    if hasList {
      do {
        _ = try replica.apply(observation)
      } catch {
        throw Self.failure(error)
      }
    }
    return WatchText.text(
      at: time, origin: observation.origin, head: Self.head(details, observation),
      lines(details, observation, before: before))
  }

  private static func head(_ details: FetchResultChangeDetails, _ observation: Observation) -> [String] {
    let removed = details.removedBefore.reduce(0) { $0 + $1.count }
    let changed = details.changedAfter.reduce(0) { $0 + $1.count }
    var counts = "+\(details.insertedIDs.count) ~\(changed) -\(removed)"
    if !details.moves.isEmpty { counts += " >\(details.moves.count)" }
    var head = [counts, Text.count(observation.count, "asset", "assets")]
    if !details.changedFields.isEmpty { head.append(details.changedFields.joined(separator: " ")) }
    return head
  }

  private func lines(
    _ details: FetchResultChangeDetails, _ observation: Observation, before: [Int64]
  ) -> [String] {
    let inserted = observation.insertedAssets ?? []
    let changed = observation.changedAssets ?? []
    var assets: [Int64: Asset] = [:]
    for asset in inserted + changed { assets[asset.id] = asset }
    var lines = WatchText.paths("+", details.insertedIDs, assets) + WatchText.paths("~", changed.map(\.id), assets)
    if hasList {
      let removed = details.removedBefore.flatMap { before[$0.start..<$0.start + $0.count] }
      lines += WatchText.paths("-", removed, [:])
    }
    return lines
  }

  private static func failure(_ error: FetchResultReplica.OutOfStep) -> Failure {
    Failure(
      .protocolFailure, error.description, remedy: "Watch again; if it comes again, that is a bug of photod.",
      command: "watch")
  }
}
