import PhotoModel

/// The result of an import: what it changed, or in a dry run what it would change.
struct ImportReport: Encodable, Hashable {
  struct Photo: Encodable, Hashable {
    let id: AssetID
    let path: String
    let changes: [String]
  }

  struct Collection: Encodable, Hashable {
    let kind: String
    let title: String
    /// For a person.
    let details: [String]

    init(_ collection: ExportedCollection, _ details: [String]) {
      kind = collection.kind.rawValue
      title = collection.title
      self.details = details
    }
  }

  /// A photo of the export that the library does not have.
  struct Missing: Encodable, Hashable {
    let line: Int
    let path: String
    let reason: String
  }

  var isDryRun = false
  var edited: [Photo] = []
  var unchangedPhotoCount = 0
  var created: [Collection] = []
  var changed: [Collection] = []
  var unchangedCollectionCount = 0
  /// The titles of the folders of albums whose collections got another order; nil for the top level.
  var reordered: [String?] = []
  var notFound: [Missing] = []
  /// The collections that photod did not accept, or not whole, with its reason. They are in no other list.
  var rejected: [Collection] = []

  /// Each change on a line.
  var lines: String {
    var lines = edited.map { "~ \(Printable.text($0.path))  \($0.changes.joined(separator: ", "))" }
    lines += created.map { "+ \($0.subject)\($0.details.map { "  \($0)" }.joined())" }
    lines += changed.map { "~ \($0.subject)  \($0.details.joined(separator: ", "))" }
    lines += reordered.map { title in
      "~ \(title.map { "The folder of albums '\(Printable.text($0))'" } ?? "The top level")  another order"
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// `2 photos were edited, and 1 album was made. 3 photos and 1 album had everything already.`
  var summary: String {
    var parts: [String] = []
    func add(_ count: Int, _ one: String, _ many: String, _ verb: String) {
      guard count > 0 else { return }
      parts.append("\(Text.count(count, one, many)) \(isDryRun ? "would be" : count == 1 ? "was" : "were") \(verb)")
    }
    add(edited.count, "photo", "photos", "edited")
    add(created.count, "album", "albums", "made")
    add(changed.count, "album", "albums", "changed")
    add(reordered.count, "folder of albums", "folders of albums", "put in order")
    let kept = [
      unchangedPhotoCount > 0 ? Text.count(unchangedPhotoCount, "photo", "photos") : nil,
      unchangedCollectionCount > 0 ? Text.count(unchangedCollectionCount, "album", "albums") : nil,
    ].compactMap { $0 }
    let all = unchangedPhotoCount + unchangedCollectionCount
    return (parts.isEmpty ? "Nothing \(isDryRun ? "would change" : "changed")" : parts.joined(separator: ", ")) + "."
      + (kept.isEmpty ? "" : " \(kept.joined(separator: " and ")) \(all == 1 ? "has" : "have") everything already.")
  }

  /// The photos and collections that are not in the library now, each on a line.
  var problems: String {
    let photos = notFound.map { "\(Printable.text($0.path)) (line \($0.line)): \($0.reason)\n" }
    return (photos + rejected.map { "\($0.subject): \(Printable.text($0.details.joined()))\n" }).joined()
  }
}

extension ImportReport.Collection {
  fileprivate var subject: String {
    let noun =
      switch ExportedCollection.Kind(rawValue: kind) {
      case .folder: "folder of albums"
      case .smartAlbum: "smart album"
      case .album, nil: "album"
      }
    return "The \(noun) '\(Printable.text(title))'"
  }
}
