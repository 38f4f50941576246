/// The state of the daemon and its library.
public struct LibraryStatus: Codable, Hashable, Sendable {
  /// The states.
  public enum State: String, OpenEnum {
    /// The catalog is being opened.
    case opening
    /// A scan is running. Files found so far are in the library.
    case scanning
    /// All past changes are in the library, and new ones appear at once.
    case live
    /// The watcher died or the queue overflowed. A scan will find whatever was missed.
    case recovering
    /// The daemon answers but cannot do its work. `warnings` has the reasons.
    case degraded
    /// A case of a later version, which this version does not know.
    case unknown

    /// The cases that this version knows, without `unknown`.
    public static let allCases: [State] = [.opening, .scanning, .live, .recovering, .degraded]
  }

  /// The state of one watched folder.
  public struct Root: Codable, Hashable, Sendable {
    /// The states.
    public enum State: String, OpenEnum {
      /// Its files are known, and changes are seen at once.
      case online
      /// Its drive is not connected. Its assets stay in the library.
      case offline
      /// It is being compared with the catalog.
      case scanning
      /// So many files are missing at once that their assets are not removed before a person confirms it.
      case suspect
      /// It does not exist, and the library never had a photo of it.
      case missing
      /// A case of a later version, which this version does not know.
      case unknown

      /// The cases that this version knows, without `unknown`.
      public static let allCases: [State] = [.online, .offline, .scanning, .suspect, .missing]
    }

    /// How changes of a root are seen.
    public enum Watch: String, OpenEnum {
      /// By the kernel's events.
      case inotify
      /// By listing its folders again and again, because the file system sends no events.
      case polling
      /// By events, and for some folders by listing them.
      case mixed
      /// A case of a later version, which this version does not know.
      case unknown

      /// The cases that this version knows, without `unknown`.
      public static let allCases: [Watch] = [.inotify, .polling, .mixed]
    }

    /// The absolute path of the folder.
    public var path: String
    /// The present state.
    public var state: State
    /// How its changes are seen.
    public var watch: Watch
    /// The number of assets.
    public var assetCount: Int
    /// The number of its folders.
    public var directoryCount: Int
    /// The number of its folders that are listed again and again.
    public var polledDirectoryCount: Int
    /// When it went offline or became suspect; `nil` in any other state.
    public var since: PhotoDate?
    /// The reason why it is offline, missing or suspect, and the next step, as text for a person.
    public var reason: String?

    /// Creates the state of a root. photod sends it in a status; a program makes one for its own tests and previews.
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

  /// Counts since the daemon started. A drive that comes back unchanged only changes ``scans``.
  public struct Counters: Codable, Hashable, Sendable {
    /// The assets that the library gained.
    public var assetsInserted: Int
    /// An asset that was updated in two commits counts twice.
    public var assetsUpdated: Int
    /// The assets that the library lost.
    public var assetsRemoved: Int
    /// The number of files whose content was read. A file that was read again counts again.
    public var filesRead: Int
    /// The number of scans that began, of a folder with everything below it.
    public var scans: Int
    /// How often the kernel's event queue overflowed.
    public var overflows: Int
    /// How often photod-watch was started. 1 means that it never died.
    public var watcherStarts: Int

    /// Creates counters, 0 unless given, as they are when photod starts.
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

  /// The processes that read the metadata of files (photod-extract).
  public struct Readers: Codable, Hashable, Sendable {
    /// The processes that run now.
    public var running: Int
    /// How often a process was replaced, because a file ended it or took too long.
    public var restarts: Int
    /// The number of files that were given up because of that, since photod started.
    public var blamedFiles: Int

    /// Creates numbers of the readers, 0 unless given, as they are when photod starts.
    public init(running: Int = 0, restarts: Int = 0, blamedFiles: Int = 0) {
      self.running = running
      self.restarts = restarts
      self.blamedFiles = blamedFiles
    }
  }

  /// The progress of reading content, by which returning photos are recognised: samples of six blocks of each file, and
  /// hashes of whole files. Files are hashed if they have user data, or share their size and beginning. The library
  /// reads while it is idle.
  public struct Hashing: Codable, Hashable, Sendable {
    /// Samples still to be made. Files on a network are not counted, because they are sampled only on request.
    public var unsampledCount: Int
    /// Hashes still to be made.
    public var unhashedCount: Int
    /// The number of bytes read for samples since the daemon started.
    public var sampledBytes: Int64
    /// The number of bytes read for hashes since the daemon started.
    public var hashedBytes: Int64
    /// Why no content is read at present; `nil` if nothing prevents it.
    public var paused: String?

    /// Creates the state in which no file needs a sample or a hash, unless other numbers are given.
    public init(
      unsampledCount: Int = 0, unhashedCount: Int = 0, sampledBytes: Int64 = 0, hashedBytes: Int64 = 0,
      paused: String? = nil
    ) {
      self.unsampledCount = unsampledCount
      self.unhashedCount = unhashedCount
      self.sampledBytes = sampledBytes
      self.hashedBytes = hashedBytes
      self.paused = paused
    }
  }

  /// The progress of the work that is being done.
  public struct Progress: Codable, Hashable, Sendable {
    /// The number of items that are done.
    public var done: Int
    /// `nil` while it is unknown.
    public var total: Int?
    /// The items that ``done`` and ``total`` count, as words for a person.
    public var phase: String

    /// Creates the progress of a phase. Without `total`, its end is unknown.
    public init(done: Int, total: Int? = nil, phase: String) {
      self.done = done
      self.total = total
      self.phase = phase
    }
  }

  /// The present state.
  public var state: State
  /// The random identifier of the catalog.
  public var library: String
  /// The current token of the library.
  public var token: String
  /// The version of photod.
  public var version: String
  /// The number of assets.
  public var assetCount: Int
  /// The number of detected changes that are not in the library yet.
  public var pendingCount: Int
  /// The number of assets whose file is damaged, or whose content could not be read. `Explain` has the reasons.
  public var failedCount: Int
  /// The progress of a scan, or of the upgrade of an older catalog; nil if neither runs.
  public var progress: Progress?
  /// The watched folders.
  public var roots: [Root]
  /// Problems, each with its remedy. A warning stays until its problem is solved.
  public var warnings: [String]
  /// The number of observations that are being answered.
  public var observerCount: Int
  /// The number of open connections.
  public var connectionCount: Int
  /// `nil` if there is no library, or from an older daemon.
  public var counters: Counters?
  /// `nil` until the amount of work is known, or from an older daemon.
  public var hashing: Hashing?
  /// `nil` if there is no library, or from an older daemon.
  public var readers: Readers?

  /// Creates a status. photod sends it; a program makes one for its own tests and previews. A library without roots and
  /// photos needs only the first four arguments.
  public init(
    state: State, library: String, token: String, version: String, assetCount: Int = 0, pendingCount: Int = 0,
    failedCount: Int = 0, progress: Progress? = nil, roots: [Root] = [], warnings: [String] = [],
    observerCount: Int = 0, connectionCount: Int = 0, counters: Counters? = nil, hashing: Hashing? = nil,
    readers: Readers? = nil
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
    self.hashing = hashing
    self.readers = readers
  }
}
