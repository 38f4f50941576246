import PhotoClient
import PhotoModel

/// Backups and what became of them, for a person.
enum BackupText {
  private static let columns = [
    Column(title: "MADE"), Column(title: "ASSETS", isNumber: true), Column(title: "SIZE", isNumber: true),
    Column(title: "KEPT"), Column(title: "PATH"),
  ]

  /// Never cut, however narrow the terminal is: the path is there to be copied into `photoctl restore`.
  static func table(_ backups: [BackupFile], now: Int64 = WatchText.now) -> String {
    guard !backups.isEmpty else { return "No backups yet: photod makes one a day.\n" }
    var table = TableLayout(columns: columns, terminalColumns: nil)
    return table.text(
      rows: backups.map { backup in
        [
          WatchText.clock(backup.date.microseconds, now: now), backup.assetCount.map(Text.grouped) ?? "unreadable",
          Text.bytes(backup.byteCount), backup.isKept ? "always" : "for a while", Printable.text(backup.path),
        ]
      })
  }

  /// `1,204 assets, 2.1 MB`
  static func contents(of backup: BackupFile) -> String {
    (backup.assetCount.map { Text.count($0, "asset", "assets") + ", " } ?? "") + Text.bytes(backup.byteCount)
  }

  static func restored(_ restored: RestoredBackup) -> String {
    let yours = Text.count(restored.userDataCount, "of them a favorite or hidden", "of them favorites or hidden")
    return """
      restored \(Text.count(restored.assetCount, "asset", "assets")), \(yours), from \
      \(Printable.text(restored.path))
      what was there before is in \(Printable.text(restored.previous.path))

      """
  }
}

/// What a look at the catalog found, for a person.
enum CheckText {
  static func text(_ check: CatalogCheck, style: Style) -> String {
    var text = ""
    for finding in check.findings {
      let severity = finding.severity == "error" ? style.bad("error:") : "\(finding.severity):"
      text += "\(severity) \(Printable.text("\(finding.what) (\(finding.place))"))\n"
      text += "  \(Printable.text(finding.remedy))\n"
    }
    let counts = check.counts.sorted { $0.key < $1.key }.map { Text.count($0.value, singular($0.key), $0.key) }
    return text + (check.findings.isEmpty ? "sound: " : "looked at ") + counts.joined(separator: ", ") + "\n"
  }

  /// Of what photod names in the plural: `commits`, and also `user data`.
  private static func singular(_ name: String) -> String { name.hasSuffix("s") ? String(name.dropLast()) : name }
}
