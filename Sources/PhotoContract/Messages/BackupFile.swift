import PhotoModel

/// A copy of the daemon's catalog.
public struct BackupFile: Codable, Hashable, Sendable {
  public var path: String
  /// When it was made.
  public var date: PhotoDate
  public var byteCount: Int64
  /// `nil` where the file can't be read.
  public var assetCount: Int?
  /// Made by hand: it is never dropped to make room for daily ones.
  public var isKept: Bool

  public init(path: String, date: PhotoDate, byteCount: Int64, assetCount: Int?, isKept: Bool) {
    self.path = path
    self.date = date
    self.byteCount = byteCount
    self.assetCount = assetCount
    self.isKept = isKept
  }
}

/// What a restore did.
public struct RestoredBackup: Codable, Hashable, Sendable {
  public var path: String
  public var assetCount: Int
  /// Assets with something that a person typed.
  public var userDataCount: Int
  /// The state before.
  public var previous: BackupFile

  public init(path: String, assetCount: Int, userDataCount: Int, previous: BackupFile) {
    self.path = path
    self.assetCount = assetCount
    self.userDataCount = userDataCount
    self.previous = previous
  }
}

/// What a look at the catalog found.
public struct CatalogCheck: Codable, Hashable, Sendable {
  public struct Finding: Codable, Hashable, Sendable {
    /// The words of ``severity``.
    package enum Severity: String, CaseIterable, Codable, Sendable {
      /// Nothing is lost, and no answer is wrong.
      case warning
      /// The catalog breaks a rule: what the library says may be wrong.
      case error
    }

    /// `warning`: nothing is lost, and no answer is wrong. `error`: what the library says may be wrong.
    public var severity: String
    public var what: String
    /// The first of them.
    public var place: String
    public var remedy: String

    public init(severity: String, what: String, place: String, remedy: String) {
      self.severity = severity
      self.what = what
      self.place = place
      self.remedy = remedy
    }
  }

  /// Errors first.
  public var findings: [Finding]
  /// What was looked at, by its name.
  public var counts: [String: Int]

  public init(findings: [Finding], counts: [String: Int]) {
    self.findings = findings
    self.counts = counts
  }

  /// No errors; there may be warnings.
  public var isOK: Bool { findings.allSatisfy { $0.severity != "error" } }
}
