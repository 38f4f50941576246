import PhotoClient
import PhotoModel

extension BackupFile: Listed {
  static let columns = [
    Column(title: "MADE"), Column(title: "ASSETS", isNumber: true), Column(title: "SIZE", isNumber: true),
    Column(title: "KEPT"), Column(title: "PATH"),
  ]

  static let fields: [Field<BackupFile>] = [
    Field("path", text: { $0.path }), Field("date", instant: { $0.date }),
    Field("byteCount", integer: { $0.byteCount }),
    Field("assetCount", integer: { $0.assetCount }), Field("isKept", boolean: { $0.isKept }),
  ]

  var cells: [String] { cells(now: WatchText.now) }

  func cells(now: PhotoDate) -> [String] {
    [
      WatchText.clock(date, now: now), assetCount.map(Text.grouped) ?? "unreadable",
      byteText(byteCount), isKept ? "until removed" : "up to 4 weeks", path,
    ]
  }

  var listedPath: String? { path }
}

/// Formats backups and restores for a person.
enum BackupText {
  /// `1,204 assets, 2.1 MB`
  static func contents(of backup: BackupFile) -> String {
    (backup.assetCount.map { Text.count($0, "asset", "assets") + ", " } ?? "") + byteText(backup.byteCount)
  }

  static func restored(_ restored: RestoredBackup) -> String {
    // Your data are favorites, hidden photos, edits and places in albums.
    let yours = Text.count(restored.userDataCount, "of them with your data", "of them with your data")
    return """
      restored \(Text.count(restored.assetCount, "asset", "assets")), \(yours), from \
      \(Printable.text(restored.path))
      the catalog before the restore is in \(Printable.text(restored.previous.path))

      """
  }
}

/// Formats the findings of a check of the catalog, for a person.
enum CheckText {
  static func text(_ check: CatalogCheck, style: Style) -> String {
    var text = ""
    for finding in check.findings {
      let severity = finding.severity == "error" ? style.bad("error:") : "\(finding.severity):"
      text += "\(severity) \(Printable.text("\(finding.what) (\(finding.place))"))\n"
      text += "  \(Printable.text(finding.remedy))\n"
    }
    let counts = check.counts.sorted { $0.key < $1.key }.map { count($0.value, of: $0.key) }
    return text + (check.findings.isEmpty ? "intact: " : "checked: ") + counts.joined(separator: ", ") + "\n"
  }

  /// photod names what it counts in the plural, such as `commits`. Only `user data` has none, and is that of assets.
  private static func count(_ number: Int, of name: String) -> String {
    name.hasSuffix("s")
      ? Text.count(number, String(name.dropLast()), name)
      : "\(name) of \(Text.count(number, "asset", "assets"))"
  }
}
