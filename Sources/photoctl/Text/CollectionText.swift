import ChangeDetails
import PhotoClient
import PhotoContract
import PhotoModel

/// Formats the list of albums and its changes for a person.
struct CollectionText {
  private var replica = CollectionListReplica()
  private let style: Style
  /// The width of the terminal.
  private let columns: Int?

  /// If more albums changed, they are only counted.
  static let maximumNamed = 10

  init(style: Style = .plain, columns: Int? = nil) {
    self.style = style
    self.columns = columns
  }

  /// The table of all albums, or a line for a change. A line follows for each album that came (+), changed (~) or went
  /// (-).
  mutating func text(
    _ observation: CollectionObservation, at time: String = WatchText.clock(WatchText.now)
  ) throws -> String {
    let before = replica.collections
    let step: CollectionListReplica.Step
    do {
      step = try replica.apply(observation)
    } catch {
      throw Failure(
        .protocolFailure, error.description, remedy: "Watch again. If this message comes again, it is a bug of photod.",
        command: "albums")
    }
    switch step {
    case .partOfList, .unchanged: return ""
    case .list:
      var renderer = ListRenderer<ListedAlbum>(format: .table, columns: columns)
      return String(decoding: try renderer.page(ListedAlbum.list(replica.collections)) + renderer.end(), as: UTF8.self)
    case .details(let details): return text(details, observation, before, at: time)
    }
  }

  private func text(
    _ details: FetchResultChangeDetails, _ observation: CollectionObservation, _ before: [AssetCollection],
    at time: String
  ) -> String {
    let inserted = observation.inserted ?? []
    let updated = observation.updated ?? []
    let deleted = Set(observation.deleted ?? [])
    var head = "\(time)  +\(inserted.count) ~\(updated.count) -\(deleted.count)"
    if !details.moves.isEmpty { head += " >\(details.moves.count)" }
    head += "  " + Text.count(observation.count, "album", "albums")
    if !details.changedFields.isEmpty { head += "  " + details.changedFields.joined(separator: " ") }
    var lines = [head]
    func add(_ albums: [AssetCollection], _ line: (AssetCollection) -> String) {
      if albums.count <= Self.maximumNamed { lines += albums.map { "          " + line($0) } }
    }
    let known = Dictionary(before.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    add(inserted) { style.good("+ \(Self.name($0))  \($0.count)") }
    add(updated) { style.doubtful("~ \(Self.change(from: known[$0.id], to: $0))") }
    add(before.filter { deleted.contains($0.id) }) { style.bad("- \(Self.name($0))") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// `Rome → Roma  12 → 13`: the differences in name and count.
  private static func change(from before: AssetCollection?, to after: AssetCollection) -> String {
    guard let before else { return "\(name(after))  \(after.count)" }
    let name = name(before) == name(after) ? name(after) : "\(name(before)) → \(name(after))"
    return "\(name)  " + (before.count == after.count ? "\(after.count)" : "\(before.count) → \(after.count)")
  }

  private static func name(_ album: AssetCollection) -> String { Printable.text(album.path ?? album.title) }
}
