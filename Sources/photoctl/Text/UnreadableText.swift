import PhotoClient

extension UnreadableFile: Listed {
  static let columns = [
    Column(title: "SINCE", minimumWidth: 8), Column(title: "WHAT", minimumWidth: 10), Column(title: "WHY"),
    Column(title: "PATH", isPath: true),
  ]

  static let fields: [Field<UnreadableFile>] = [
    Field("path", text: { $0.path }), Field("kind", text: { $0.kind }), Field("reason", text: { $0.reason }),
    Field("since", instant: { $0.since }), Field("remedy", text: { $0.remedy }),
    Field("assetID", integer: { $0.assetID?.rawValue }),
  ]

  var cells: [String] {
    [since.map { WatchText.clock($0, now: WatchText.now) } ?? "-", kind, reason, path]
  }

  var listedPath: String? { path }
}

/// Formats unreadable files for a person: a table, and the remedies below it.
struct UnreadableList {
  private var renderer: ListRenderer<UnreadableFile>
  private let isTable: Bool
  private var isEmpty = true
  /// One remedy for each kind, in the order in which they came.
  private var remedies: [String] = []

  init(format: OutputFormat, columns: Int?) {
    renderer = ListRenderer(format: format, columns: columns)
    isTable = format == .table
  }

  mutating func page(_ files: [UnreadableFile]) throws -> [UInt8] {
    isEmpty = isEmpty && files.isEmpty
    for file in files {
      let remedy = "\(file.kind): \(file.remedy)"
      if !remedies.contains(remedy) { remedies.append(remedy) }
    }
    return try renderer.page(files)
  }

  func end() -> [UInt8] {
    guard isTable else { return renderer.end() }
    if isEmpty { return Array("Everything can be read.\n".utf8) }
    return Array(("\n" + remedies.map { Printable.text($0) + "\n" }.joined()).utf8)
  }
}
