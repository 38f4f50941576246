import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

/// A folder in the place of a root's top.
struct NewTop {
  let identity: FileIdentity
  /// Whether a photo that the library knew before was found in it.
  var hasKnownPhotos = false
}

/// A root of the library: its state, and the work that it still needs.
struct Root {
  /// The state of a configured root's folder, as far as photod knows it.
  enum Presence {
    case online
    /// A scan missed so many of its photos that none was removed.
    case suspect(Suspect)
    /// Its photos stay, unavailable. The date is nil if the history does not have it.
    case offline(since: PhotoDate?, OfflineReason)
    /// Another folder is in its place, which only a person can accept. Its photos stay, unavailable.
    case foreign(since: PhotoDate?, ForeignFolder)
  }

  /// A scan may be awaited whatever is known about the folder: when photod-watch starts again, it looks at every
  /// configured root anew. Until the scan ends, or the root proves to be offline, the root keeps what was known. So
  /// `scanning` has a presence. No scan of an unconfigured root is ever awaited, and it has no presence.
  enum State {
    /// No scan of it is awaited.
    case settled(Presence)
    /// A scan of it must end before the library is live.
    case scanning(Presence)
    /// The configuration no longer has it. Its photos stay, unavailable, until a person lets them go.
    case unconfigured(since: PhotoDate?, isEmpty: Bool)
  }

  /// The root's id in the catalog.
  let id: RootID
  /// Only `Roots` changes it.
  fileprivate(set) var state: State
  /// The number under which photod-watch has the root; nil if it does not watch it.
  fileprivate(set) var number: UInt16?

  /// Whether a listing missed a file while no scan was under way. A scan must decide whether it is gone.
  var needsScan = false
  /// That scan waits until the root is quiet.
  var scanWait = QuietWait()
  /// When photod-watch last reported something in the root.
  var lastChange = MonotonicTime.boot
  /// Whether the root is suspect and the library has changed since its last scan: missing photos may be back.
  var mayBeComplete = false
  /// Whether events of the root were lost, and the scan that follows has not begun.
  var isBlind = false
  /// Whether a person confirmed that the folder in the root's place belongs to the library. The next scan decides by
  /// that.
  var isAdopted = false
  /// Another folder of the same file system that took the place of its top. The scan decides whether that folder belongs
  /// to the library. Until then the catalog has the identity of the former one, and no file of the folder becomes a photo.
  var newTop: NewTop?

  fileprivate init(id: RootID, state: State, number: UInt16? = nil) {
    (self.id, self.state, self.number) = (id, state, number)
  }

  /// Nil if it is unconfigured, and it stays so. Only `Roots` sets it.
  fileprivate(set) var presence: Presence? {
    get {
      switch state {
      case .settled(let presence), .scanning(let presence): presence
      case .unconfigured: nil
      }
    }
    set {
      guard !isUnconfigured, let newValue else { return }
      state = isScanAwaited ? .scanning(newValue) : .settled(newValue)
    }
  }

  /// Whether a scan of the root must end before the library is live. It stays false for an unconfigured root.
  var isScanAwaited: Bool {
    get { if case .scanning = state { true } else { false } }
    set { if let presence { state = newValue ? .scanning(presence) : .settled(presence) } }
  }

  /// Whether its photos are there, as the catalog has it.
  var isAvailable: Bool {
    switch presence {
    case .online, .suspect: true
    case .offline, .foreign, nil: false
    }
  }

  var isUnconfigured: Bool { if case .unconfigured = state { true } else { false } }

  var isForeign: Bool { if case .foreign = presence { true } else { false } }

  var suspect: Suspect? { if case .suspect(let suspect) = presence { suspect } else { nil } }

  /// Why its photos are unavailable, for the log. Nil if they are available, or if it has not been looked at.
  var absenceCause: String? {
    switch presence {
    case .online, .suspect, .offline(_, .notLookedAt), nil: nil
    case .offline(_, let reason): reason.cause
    case .foreign(_, let folder): folder.cause
    }
  }

  fileprivate var unavailableSince: PhotoDate? {
    switch state {
    case .settled(.offline(let since, _)), .scanning(.offline(let since, _)): since
    case .settled(.foreign(let since, _)), .scanning(.foreign(let since, _)): since
    case .settled, .scanning: nil
    case .unconfigured(let since, _): since
    }
  }
}

/// All roots of the catalog. Each change of a root's state is one of the methods here.
///
/// The catalog and the history record whether a root is available. So the reconciler, which writes both, makes each change
/// that may alter that.
struct Roots {
  private var roots: [RootID: Root] = [:]
  private var ids: [UInt16: RootID] = [:]
  /// The number that a root got last.
  private var lastNumber: UInt16 = 0
  /// The numbers under which photod-watch got roots before the library was open, by path. Each is used once.
  private var givenNumbers: [[UInt8]: UInt16] = [:]
  /// Counted, because they are read for each file.
  private var suspectCount = 0
  private var newTopCount = 0
  /// Folders in which another file system is mounted that a person declared to be part of the library.
  private(set) var adoptedFolders: Set<DirectoryID> = []

  /// - Parameters:
  ///   - offlineDates: since when roots are offline, by the history.
  ///   - former: the roots of the reconciler before this one. The reasons that it knew still hold.
  init(_ rows: [RootRow] = [], offlineDates: [RootID: WallTime] = [:], former: Roots? = nil) {
    lastNumber = former?.lastNumber ?? 0
    for row in rows {
      if row.isAvailable {
        roots[row.id] = Root(id: row.id, state: .settled(.online))
      } else if let known = former?[row.id], !known.isAvailable, let presence = known.presence {
        roots[row.id] = Root(id: row.id, state: .settled(presence))
      } else {
        let since = offlineDates[row.id].map { PhotoDate($0) }
        roots[row.id] = Root(id: row.id, state: .settled(.offline(since: since, .notLookedAt)))
      }
    }
  }

  // MARK: Looking up

  /// A root by its id. Setting it to nil removes the root.
  subscript(id: RootID) -> Root? {
    get { roots[id] }
    set {
      if let number = roots[id]?.number { ids[number] = nil }
      if roots[id]?.suspect != nil { suspectCount -= 1 }
      if roots[id]?.newTop != nil { newTopCount -= 1 }
      roots[id] = newValue
      if let number = newValue?.number { ids[number] = id }
      if newValue?.suspect != nil { suspectCount += 1 }
      if newValue?.newTop != nil { newTopCount += 1 }
    }
  }

  /// A root by the number under which photod-watch has it.
  subscript(number number: UInt16) -> Root? {
    get { ids[number].flatMap { roots[$0] } }
    set { if let id = ids[number] { self[id] = newValue } }
  }

  func id(ofNumber number: UInt16) -> RootID? { ids[number] }

  /// All roots, in the order in which they were added.
  var all: [Root] { roots.values.sorted { $0.id < $1.id } }

  /// The roots that photod-watch has, by their numbers.
  var watched: [(number: UInt16, root: Root)] {
    ids.sorted { $0.key < $1.key }.compactMap { number, id in roots[id].map { (number, $0) } }
  }

  var numbers: some Collection<UInt16> { ids.keys }

  var hasSuspects: Bool { suspectCount > 0 }
  var hasNewTops: Bool { newTopCount > 0 }

  func contains(where isWanted: (Root) -> Bool) -> Bool { roots.values.contains(where: isWanted) }

  // MARK: Changing the state

  /// Adds a root that the catalog got just now.
  mutating func add(_ id: RootID, number: UInt16? = nil) {
    self[id] = Root(id: id, state: .settled(.online), number: number)
  }

  /// A new number, under which photod-watch scans the root as if it were new. With nil, photod-watch
  /// does not have it.
  mutating func setNumber(_ number: UInt16?, of id: RootID) {
    self[id]?.number = number
    self[id]?.needsScan = false
    self[id]?.mayBeComplete = false
  }

  /// Takes over the numbers that photod-watch has for roots already.
  mutating func takeOver(_ watched: [WatchRoot]) {
    for root in watched {
      givenNumbers[root.path] = root.number
      lastNumber = max(lastNumber, root.number)
    }
  }

  /// Gives a root the number that photod-watch has for its path, or a new one.
  mutating func setFirstNumber(of id: RootID, at path: [UInt8]) {
    if let number = givenNumbers.removeValue(forKey: path) { setNumber(number, of: id) } else { setNewNumber(of: id) }
  }

  /// Gives a root a number that photod-watch had for no other root lately, because it may still report something under
  /// that.
  mutating func setNewNumber(of id: RootID) {
    repeat { lastNumber &+= 1 } while lastNumber == 0 || ids[lastNumber] != nil
    setNumber(lastNumber, of: id)
  }

  /// Sets a root online: it is in its place. A suspicion of it stays.
  mutating func setOnline(_ id: RootID) {
    if self[id]?.isAvailable == false { self[id]?.presence = .online }
  }

  /// Sets a root offline, or gives an offline root another reason. A suspicion ends, because the scan that raised it
  /// proves nothing once the root is back.
  mutating func setOffline(_ id: RootID, _ reason: OfflineReason, at date: PhotoDate) {
    guard let root = self[id] else { return }
    self[id]?.presence = .offline(since: root.isAvailable ? date : root.unavailableSince, reason)
  }

  /// Records that another folder is in a root's place. A suspicion ends, as when the root goes offline.
  mutating func setForeign(_ id: RootID, _ folder: ForeignFolder, at date: PhotoDate) {
    guard let root = self[id] else { return }
    self[id]?.presence = .foreign(since: root.isAvailable ? date : root.unavailableSince, folder)
  }

  mutating func setSuspect(_ id: RootID, _ suspect: Suspect) {
    if self[id]?.isAvailable == true { self[id]?.presence = .suspect(suspect) }
  }

  /// - Returns: whether the root was suspect.
  mutating func endSuspicion(of id: RootID) -> Bool {
    guard self[id]?.suspect != nil else { return false }
    self[id]?.presence = .online
    return true
  }

  /// Records that the configuration no longer has a root. Its number and its pending work are forgotten.
  mutating func setUnconfigured(_ id: RootID, at date: PhotoDate) {
    guard let root = self[id] else { return }
    let since = root.isAvailable ? date : root.unavailableSince
    self[id] = Root(id: id, state: .unconfigured(since: since, isEmpty: false))
  }

  /// Records that the configuration has a root again. photod-watch reports the files that are there.
  mutating func setConfigured(_ id: RootID) {
    guard let root = self[id], root.isUnconfigured else { return }
    self[id]?.state = .settled(.offline(since: root.unavailableSince, .notLookedAt))
  }

  /// Records which roots have no photos, among those that are no longer configured.
  mutating func setEmpty(_ isEmpty: (RootID) -> Bool) {
    for id in roots.keys {
      guard case .unconfigured(let since, _) = roots[id]!.state else { continue }
      roots[id]!.state = .unconfigured(since: since, isEmpty: isEmpty(id))
    }
  }

  // MARK: Folders that a person confirmed

  mutating func adopt(folder id: DirectoryID) { adoptedFolders.insert(id) }

  /// A person's confirmation is for the directory that was in the place at that time.
  mutating func endAdoption(of folder: DirectoryID) {
    if !adoptedFolders.isEmpty { adoptedFolders.remove(folder) }
  }

  mutating func endAdoptions(where isOver: (DirectoryID) -> Bool) {
    if !adoptedFolders.isEmpty { adoptedFolders = adoptedFolders.filter { !isOver($0) } }
  }

  // MARK: Changing the pending work

  /// Changes all roots, but not their presence, and not the folders in their places.
  mutating func updateAll(_ change: (inout Root) -> Void) { for id in roots.keys { change(&roots[id]!) } }
}
