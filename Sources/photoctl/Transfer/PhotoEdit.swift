import PhotoClient
import PhotoModel

/// The edit after which a photo has all user data that an export has of it.
struct PhotoEdit {
  private(set) var request: ChangeRequest.EditAsset
  /// The changes as text: `title 'Rome'`, or `title 'Rom' → 'Rome'` if a typed value is replaced.
  private(set) var changes: [String] = []

  /// - Parameters:
  ///   - asset: the photo as the library has it.
  ///   - current: its user data in this library.
  /// - Returns: nil if the photo has all of it already.
  init?(_ wanted: ExportedPhoto, of asset: Asset, having current: UserData) {
    request = ChangeRequest.EditAsset(ids: [asset.id])
    if wanted.isFavorite == true, !current.isFavorite {
      request.isFavorite = true
      changes.append("favorite")
    }
    if wanted.isHidden == true, !current.isHidden {
      request.isHidden = true
      changes.append("hidden")
    }
    set(\.rating, wanted.rating, current.rating, "rating") { "\($0)" }
    set(\.title, wanted.title, current.title, "title", Self.quoted)
    set(\.caption, wanted.caption, current.caption, "caption", Self.quoted)
    setKeywords(wanted, asset, current)
    set(\.creationDate, wanted.creationDate?.description, current.creationDate?.description, "date") { $0 }
    set(\.location, wanted.location, current.location, "location") { "\($0.latitude),\($0.longitude)" }
    if wanted.hasNoLocation == true, !current.hasNoLocation {
      request.removeLocation = true
      changes.append("no location")
    }
    guard !changes.isEmpty else { return nil }
  }

  private mutating func set<Value: Equatable>(
    _ field: WritableKeyPath<ChangeRequest.EditAsset, Value?>, _ wanted: Value?, _ current: Value?, _ name: String,
    _ text: (Value) -> String
  ) {
    guard let wanted, wanted != current else { return }
    request[keyPath: field] = wanted
    changes.append("\(name) \(current.map { text($0) + " → " } ?? "")\(text(wanted))")
  }

  private mutating func setKeywords(_ wanted: ExportedPhoto, _ asset: Asset, _ current: UserData) {
    let added = (wanted.addedKeywords ?? []).filter { !current.addedKeywords.contains($0) }
    // A keyword that the file here does not have can't be removed from it. One that a person typed here stays.
    let typed = Set(current.addedKeywords + added)
    let removed = (wanted.removedKeywords ?? []).filter { asset.keywords.contains($0) && !typed.contains($0) }
    if !added.isEmpty { request.addKeywords = added }
    if !removed.isEmpty { request.removeKeywords = removed }
    changes += added.map { "keyword +\(Printable.text($0))" } + removed.map { "keyword -\(Printable.text($0))" }
  }

  /// The beginning of a long text.
  private static func quoted(_ text: String) -> String {
    let printable = Printable.text(text)
    return "'\(printable.count > 40 ? printable.prefix(39) + "…" : printable[...])'"
  }

  /// About how many bytes it takes in a call.
  var byteCount: Int {
    let texts = [request.title, request.caption].compactMap { $0 } + (request.addKeywords ?? [])
    return (texts + (request.removeKeywords ?? [])).reduce(256) { $0 + 2 * $1.utf8.count }
  }
}
