/// How the daemon and its library are.
public struct LibraryStatus: Codable, Hashable, Sendable {
  public enum State: String, Codable, Hashable, Sendable {
    /// The catalog is being opened.
    case opening
    /// A scan is under way; what was found so far is there.
    case scanning
    /// Everything that happened is in, or will be at once.
    case live
    /// The watcher died or the queue overflowed; a scan will tell what was missed.
    case recovering
    /// It answers, but cannot do its work: `warnings` say why.
    case degraded
  }

  public struct Root: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable { case online, offline, scanning, suspect }
    public enum Watch: String, Codable, Hashable, Sendable { case inotify, polling, mixed }

    public var path: String
    public var state: State
    public var watch: Watch
    public var assetCount: Int
    public var directoryCount: Int
    public var polledDirectoryCount: Int
    /// When it went offline or became suspect; `nil` in any other state.
    public var since: PhotoDate?
    /// Why it is offline or suspect, and what happens next, for a person.
    public var reason: String?

    public init(
      path: String, state: State, watch: Watch = .inotify, assetCount: Int = 0, directoryCount: Int = 0,
      polledDirectoryCount: Int = 0, since: PhotoDate? = nil, reason: String? = nil
    ) {
      self.path = path
      self.state = state
      self.watch = watch
      self.assetCount = assetCount
      self.directoryCount = directoryCount
      self.polledDirectoryCount = polledDirectoryCount
      self.since = since
      self.reason = reason
    }
  }

  /// What happened since the daemon started. A drive that comes back with nothing new on it changes ``scans`` alone.
  public struct Counters: Codable, Hashable, Sendable {
    public var assetsInserted: Int
    /// An asset that was updated in two commits counts twice.
    public var assetsUpdated: Int
    public var assetsRemoved: Int
    /// Files whose content was read; one that was read again counts again.
    public var filesRead: Int
    /// Scans of a folder and all below it that began.
    public var scans: Int
    /// How often the kernel's event queue ran over.
    public var overflows: Int
    /// How often photod-watch was started: 1 when it never died.
    public var watcherStarts: Int

    public init(
      assetsInserted: Int = 0, assetsUpdated: Int = 0, assetsRemoved: Int = 0, filesRead: Int = 0, scans: Int = 0,
      overflows: Int = 0, watcherStarts: Int = 0
    ) {
      self.assetsInserted = assetsInserted
      self.assetsUpdated = assetsUpdated
      self.assetsRemoved = assetsRemoved
      self.filesRead = filesRead
      self.scans = scans
      self.overflows = overflows
      self.watcherStarts = watcherStarts
    }
  }

  public struct Progress: Codable, Hashable, Sendable {
    public var done: Int
    /// Absent while it is not known.
    public var total: Int?
    public var phase: String

    public init(done: Int, total: Int? = nil, phase: String) {
      self.done = done
      self.total = total
      self.phase = phase
    }
  }

  public var state: State
  public var library: String
  public var token: String
  public var version: String
  public var assetCount: Int
  /// Work that was seen and is not in the library yet.
  public var pendingCount: Int
  /// Files whose content could not be read; `Explain` says why.
  public var failedCount: Int
  public var progress: Progress?
  public var roots: [Root]
  /// What is wrong, with the remedy; each stays until it is mended.
  public var warnings: [String]
  public var observerCount: Int
  public var connectionCount: Int
  /// `nil` while there is no library, and of an older daemon.
  public var counters: Counters?

  public init(
    state: State, library: String, token: String, version: String, assetCount: Int = 0, pendingCount: Int = 0,
    failedCount: Int = 0, progress: Progress? = nil, roots: [Root] = [], warnings: [String] = [],
    observerCount: Int = 0, connectionCount: Int = 0, counters: Counters? = nil
  ) {
    self.state = state
    self.library = library
    self.token = token
    self.version = version
    self.assetCount = assetCount
    self.pendingCount = pendingCount
    self.failedCount = failedCount
    self.progress = progress
    self.roots = roots
    self.warnings = warnings
    self.observerCount = observerCount
    self.connectionCount = connectionCount
    self.counters = counters
  }
}
