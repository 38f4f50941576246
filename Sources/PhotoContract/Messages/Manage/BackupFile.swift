import PhotoModel

/// A copy of the daemon's catalog.
public struct BackupFile: Codable, Hashable, Sendable {
  /// The absolute path of the copy.
  public var path: String
  /// When the copy was made.
  public var date: PhotoDate
  /// The size of the copy.
  public var byteCount: Int64
  /// `nil` if the file can't be read.
  public var assetCount: Int?
  /// The copy was made by hand. It is never dropped to make room for daily ones.
  public var isKept: Bool

  /// Creates a backup. `assetCount` is nil if the file could not be read.
  public init(path: String, date: PhotoDate, byteCount: Int64, assetCount: Int?, isKept: Bool) {
    self.path = path
    self.date = date
    self.byteCount = byteCount
    self.assetCount = assetCount
    self.isKept = isKept
  }
}

/// The result of a restore.
public struct RestoredBackup: Codable, Hashable, Sendable {
  /// The absolute path of the copy.
  public var path: String
  /// The number of assets in the library after the restore.
  public var assetCount: Int
  /// How many of the assets are favorites, hidden, edited, or in an album that a person made.
  public var userDataCount: Int
  /// The backup of the state before the restore.
  public var previous: BackupFile

  /// Creates the result of a restore.
  public init(path: String, assetCount: Int, userDataCount: Int, previous: BackupFile) {
    self.path = path
    self.assetCount = assetCount
    self.userDataCount = userDataCount
    self.previous = previous
  }
}

/// The result of a check of the catalog.
public struct CatalogCheck: Codable, Hashable, Sendable {
  /// One thing that is wrong.
  public struct Finding: Codable, Hashable, Sendable {
    /// The words of ``severity``.
    package enum Severity: String, CaseIterable, Codable, Sendable {
      /// No data is lost, and no reply is wrong.
      case warning
      /// The catalog breaks a rule, so replies may be wrong.
      case error
    }

    /// `warning`: no data is lost, and no reply is wrong. `error`: replies may be wrong.
    public var severity: String
    /// The problem, as text for a person.
    public var what: String
    /// The first place with this finding.
    public var place: String
    /// The remedy, as text for a person.
    public var remedy: String

    /// Creates a finding. `severity` is `warning` or `error`.
    public init(severity: String, what: String, place: String, remedy: String) {
      self.severity = severity
      self.what = what
      self.place = place
      self.remedy = remedy
    }
  }

  /// Errors first.
  public var findings: [Finding]
  /// The number of checked items of each kind.
  public var counts: [String: Int]

  /// Creates the result of a check. `counts` has the number of checked items by their names.
  public init(findings: [Finding], counts: [String: Int]) {
    self.findings = findings
    self.counts = counts
  }

  /// There are no errors. There may be warnings.
  public var isOK: Bool { findings.allSatisfy { $0.severity != "error" } }
}
