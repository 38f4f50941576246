import PhotoModel
import WatchRecords

@testable import PhotoIndexer

/// Knows each photo as a person identifies it, and the promises of photod about it.
///
/// A photo is a name with the content that was written under it. It stays the same photo if it is renamed, moved inside
/// its file system, rewritten, or saved by a program that renames over it. A copy and a hard link are photos of their
/// own.
///
/// Time is divided into epochs, from one settled state to the next. The promises concern each photo that was in the
/// library at the beginning of an epoch and is visible at its end:
/// 1. A photo keeps its id and favorite at every moment if it was not touched, has no second name and is no copy of a
///    photo that left. This holds whatever was unmounted, lost, killed or restarted. A photo counts as one that left if it
///    was moved and saved while events were lost, or saved then by a file with the content of a photo that had left. So
///    does a photo that the library saw only between two settled states, if its root was not available at the second one.
/// 2. A photo that was touched keeps its id, except in these cases:
///    - It was out of sight meanwhile: hidden, outside the roots, or in a folder that can't be read.
///    - The proof of its identity was lost. It was moved, and events were lost (overflow, a dead photod or
///      photod-watch, failed transactions, folders without a watch). In addition one of these holds: another photo had
///      its place for some time, or it had the place of another; or it was saved as well (another inode); or its file
///      system has no birth times and its content changed, or keeps no inodes and was mounted again; or it has a second
///      name; or it is half written. But if inodes last and files have birth times, a photo with the same inode and
///      content keeps its id whatever had its place, unless it has a second name or folders changed.
///    - It was moved in an epoch in which folders were created, moved or removed, and one of its places also belonged
///      to another photo. A folder that is not watched yet reports no half of a rename.
///    - It is a page of a scanner, which shares size and beginning with others. It was moved to another file system, or
///      within one that keeps no inodes. The identity is proven only if a sample or a hash was made before.
///    - It was moved to another file system, and one of these holds: anything was lost, folders changed, another photo
///      has the same content, the clock was set since the photo came, an hour passed before the library saw the move,
///      it was changed or renamed over another photo before the library had it in its new place, or a person gave user
///      data to the copy.
///    - It was moved to another file system, and has an id again that it had in an earlier epoch and lost with some
///      events or out of sight. Or this happened on a file system that keeps no inodes, after any move or loss. Its
///      content is that of the asset which was deleted then. A present photo with this content comes first, but a new one
///      without user data is found by its content only after the library was idle.
///    - It was saved by a file that the library knows as a photo, and that file was renamed or changed again more than
///      two seconds after its birth, all before the watcher read the events. A save is a rename within two seconds of
///      the birth. The kernel's events have no time, and the change time is that of the last change. So nothing proves
///      that the first rename was a save.
///    - It is a copy of a photo that has left since, which counts as a move to another disk. It keeps its id
///      nevertheless if it has user data, was always in its place, and nothing was lost, because programs may have
///      saved it.
///
///    A photo that was removed with its folder and put back unchanged keeps its id. This holds if nothing else ever had
///    its place or its content. It does not hold for pages of a scanner, and not if a person gave user data to the photo
///    that was put back before the library knew that the first one had left.
/// 3. No id is given to another photo, with these exceptions. If two photos had one place, the second may be taken for
///    the saved first one. An id may also come back for the same content. A place is a path, and also a name in a
///    folder, wherever that folder moves. A photo that came into the library and left it within the epoch may be
///    between the two. It was saved over the first, and then renamed, copied or saved in turn. Or it left in an earlier
///    epoch and was a copy of the first that was taken for a move to another disk. A photo that left so, with the id of
///    the first, may also come back epochs later. If events were lost, a photo that was changed and left within the epoch
///    may be between the two as well, if its file system has no birth times. A file with several names may have the id of
///    a photo for which it was taken, under any of its names, if events were lost.
struct SimulationOracle {
  struct Known {
    let id: AssetID
    let key: SimulatedDisk.NodeKey
    let place: String
    let content: Int
    /// A person has given user data to it.
    var isGiven: Bool
  }

  struct Placement: Equatable {
    let key: SimulatedDisk.NodeKey
    /// The volume, and the path on it.
    let place: String
    /// The folder's node and the name in it.
    let seat: String
    let content: Int
    let isHidden: Bool
    let isDenied: Bool
    let hasLinks: Bool
  }

  private(set) var known: [Int: Known] = [:]
  private var owners: [AssetID: Int] = [:]
  /// All ids that each photo had at the end of an epoch.
  private var allIDs: [Int: Set<AssetID>] = [:]
  /// The photos that may have had each id between the ends of epochs, since its owner was last seen.
  private var passed: [AssetID: Set<Int>] = [:]
  /// Photos that had an id at the end of an epoch.
  private var settled: Set<Int> = []
  /// The paths in the library that each photo has had.
  private var paths: [Int: Set<String>] = [:]
  private var contents: [Int: Set<Int>] = [:]
  /// All places and seats that each photo ever had. Changes on an absent drive are found epochs later.
  private var allPlaces: [Int: Set<String>] = [:]

  /// The contents of photos that have left. A copy may have been taken for one of them.
  private var departedContents: Set<Int> = []

  /// The last state of the photos that are no longer on any disk.
  private var departed: [Int: Known] = [:]
  /// Photos that a program was writing at the end of the last epoch.
  private var openBefore: Set<Int> = []
  /// Photos that were put back from a backup, in the same place with the same times.
  private var restored: Set<Int> = []

  // The following properties are those of the current epoch.
  private var occupants: [String: Set<Int>] = [:]
  private var places: [Int: Set<String>] = [:]
  private var disturbed: Set<Int> = []
  /// Photos that the library may have.
  private var appeared: Set<Int> = []
  private var unseen: Set<Int> = []
  /// Photos that were on no disk for a while.
  private var absent: Set<Int> = []
  /// Photos whose inode changed meanwhile, even if the number is the same again.
  private var replaced: Set<Int> = []
  private var linked: Set<Int> = []
  /// The photos that were names of one file together with each photo. Unlike the other properties, it is kept.
  private var mates: [Int: Set<Int>] = [:]
  /// The other photo of an exchange, and its time. Programs save so: if the old file leaves soon after, the new file
  /// continues its photo.
  private var exchanged: [Int: (other: Int, time: Int64)] = [:]
  /// Photos that were moved to another file system. Only their content proves their identity.
  private var carried: Set<Int> = []
  /// The monotonic time of the move, in nanoseconds.
  private var carriedAt: [Int: Int64] = [:]
  /// The clock was set. In this epoch, dates do not prove which of two photos is the older one after a move to another
  /// file system.
  private var isClockSet = false
  /// Photos that existed when the clock was set. Their dates and those of later files are of different clocks.
  private var misdated: Set<Int> = []
  /// Photos that were out of sight at the end of an epoch in which something was lost. The library has yet to find
  /// them.
  private var lossy: Set<Int> = []
  var isLossy = false
  var hasFolderChanges = false
  var remounted: Set<Int> = []

  /// How often the laws judged a photo. A law that judges nothing holds whatever photod does.
  struct Judgements: CustomStringConvertible {
    /// Photos that were touched and had to keep their id, and how many of them were moved to another file system.
    var touched = 0
    var carried = 0
    /// Photos that were put back from a backup and had to get their id again.
    var returned = 0
    /// Changes that photod had to report to a client that resumed.
    var resumed = 0

    static func += (one: inout Judgements, other: Judgements) {
      one.touched += other.touched
      one.carried += other.carried
      one.returned += other.returned
      one.resumed += other.resumed
    }

    var description: String { "touched \(touched), carried \(carried), returned \(returned), resumed \(resumed)" }
  }

  private(set) var judgements = Judgements()

  /// Runs after every step that may change the disk.
  mutating func note(_ placements: [Int: Placement]) {
    let names = Dictionary(grouping: placements.filter(\.value.hasLinks), by: \.value.key)
    for photos in names.values.map({ $0.map(\.key) }) {
      for photo in photos { mates[photo, default: []].formUnion(photos) }
    }
    for (photo, placement) in placements {
      occupants[placement.place, default: []].insert(photo)
      places[photo, default: []].insert(placement.place)
      allPlaces[photo, default: []].formUnion([placement.place, placement.seat])
      if !placement.isHidden {
        appeared.insert(photo)
        paths[photo, default: []].insert(Self.path(of: placement.place))
      }
      // An empty file does not prove that two photos are the same.
      if placement.content != 0 { contents[photo, default: []].insert(placement.content) }
      if placement.hasLinks { linked.insert(photo) }
      guard let before = known[photo] else { continue }
      if before.place != placement.place || placement.isHidden || before.key.inode != placement.key.inode {
        disturbed.insert(photo)
      }
      if before.key.inode != placement.key.inode { replaced.insert(photo) }
      if placement.isHidden || (placement.isDenied && before.place != placement.place) { unseen.insert(photo) }
    }
    for photo in known.keys where placements[photo] == nil {
      disturbed.insert(photo)
      absent.insert(photo)
    }
    for (photo, before) in known where placements[photo].map({ isOutOfSight($0, before) }) ?? true {
      departedContents.formUnion(contents[photo, default: []])
      guard let exchange = exchanged.removeValue(forKey: photo) else { continue }
      disturbed.insert(exchange.other)
      unseen.insert(exchange.other)
    }
  }

  /// Whether a photo moved to a place that the library does not see: it is hidden, in the bare mount point of a drive,
  /// or in a folder that can't be read.
  private func isOutOfSight(_ now: Placement, _ before: Known) -> Bool {
    now.isHidden || now.place.hasPrefix("0:/usb/") || (now.isDenied && now.place != before.place)
  }

  /// Notes a photo that was copied to another file system and removed from its old place. Any earlier copy may be taken
  /// for that photo.
  ///
  /// - Parameter isSeen: the photo was in a configured root, and in a folder that may be read. Otherwise the library finds
  ///   much later that it has left.
  mutating func noteCarried(_ photo: Int, content: Int?, isSeen: Bool, at time: Int64) {
    carried.insert(photo)
    if !isSeen { departedContents.formUnion(contents[photo, default: []]) }
    // Nothing proves the identity of a page that got another name, or whose old place was only found by a scan. It is
    // recognised once its whole content has been hashed, if the old file was hashed.
    if content.map(SimulatedDisk.isPage) ?? true {
      unseen.insert(photo)
      departedContents.formUnion(contents[photo, default: []])
    }
    // If the content was never read in the old place, it proves no identity.
    if let before = known[photo], before.content != content { unseen.insert(photo) }
    carriedAt[photo] = time
    for other in contents.keys where other != photo && !contents[other]!.isDisjoint(with: contents[photo, default: []])
    {
      departedContents.formUnion(contents[photo, default: []])
    }
  }

  /// Notes photos that were changed, or renamed over others, in a place in which the library had no photo. If they came
  /// from another file system, nothing proves what they are.
  mutating func noteChanged(_ photos: some Sequence<Int>) { unseen.formUnion(carried.intersection(photos)) }

  mutating func noteClockSet() {
    isClockSet = true
    misdated.formUnion(allPlaces.keys)
  }

  /// Whether dates prove that a copy of this photo is newer than the photo.
  private func isDated(_ photo: Int) -> Bool { !isClockSet && !misdated.contains(photo) }

  /// Notes a photo for which no time proves that a program saved its file.
  mutating func noteUndatedSave(of photo: Int) { unseen.insert(photo) }

  mutating func noteRestored(_ photos: Set<Int>) { restored.formUnion(photos) }

  mutating func noteExchanged(_ one: Int, _ other: Int, at time: Int64) {
    exchanged[one] = (other, time)
    exchanged[other] = (one, time)
  }

  /// How long the library remembers a copy.
  private static let copyLifetime = 3600 * seconds

  mutating func pass(to time: Int64) {
    exchanged = exchanged.filter { time - $0.value.time < Exchanges.lifetime.wholeNanoseconds + 60 * seconds }
    for (photo, start) in carriedAt where time - start > Self.copyLifetime - 60 * seconds { unseen.insert(photo) }
  }

  /// - Parameters:
  ///   - isGiven: a person has given user data to the photo; otherwise the person has removed it.
  ///   - isThere: whether the library has an asset.
  mutating func noteUserData(of photo: Int, _ id: AssetID, isGiven: Bool, isThere: (AssetID) -> Bool) {
    // A copy that has user data of its own is not taken for the original any more.
    if carried.contains(photo) { unseen.insert(photo) }
    if restored.contains(photo), known[photo]?.id != id,
      (known[photo] ?? departed[photo]).map({ isThere($0.id) }) ?? true
    {
      unseen.insert(photo)
    }
    if known[photo]?.id == id { known[photo]?.isGiven = isGiven }
  }

  /// Notes that a person confirmed the removal of missing photos.
  mutating func disturb(volume: Int) {
    departed = departed.filter { $0.value.key.volume != volume }
    for (photo, known) in known where known.key.volume == volume {
      disturbed.insert(photo)
      unseen.insert(photo)
      // If the photo is missing, its copy continues it.
      departedContents.formUnion(contents[photo, default: []])
    }
  }

  mutating func hide(volume: Int, below path: String) {
    departed = departed.filter { $0.value.key.volume != volume }
    for (photo, known) in known where known.key.volume == volume && known.place.hasPrefix("\(volume):\(path)/") {
      disturbed.insert(photo)
      unseen.insert(photo)
    }
  }

  /// The photos whose id must be in the library now.
  var untouchable: [(photo: Int, known: Known)] {
    known.filter { !disturbed.contains($0.key) && !linked.contains($0.key) && !mayBeSuccessor($0.key) }.map {
      (photo: $0.key, known: $0.value)
    }
    .sorted { $0.photo < $1.photo }
  }

  private func mayBeSuccessor(_ photo: Int) -> Bool {
    !contents[photo, default: []].isDisjoint(with: departedContents.union(lostContents))
  }

  /// The former contents of photos that were saved while events were lost, and that were moved as well or were saved by a
  /// file that the library took for a deleted photo. Nothing proves where such a photo is, so the library takes it for
  /// deleted, and may take a copy for it.
  private var lostContents: Set<Int> {
    guard isLossy else { return [] }
    let lost = known.filter { photo, before in
      replaced.contains(photo)
        && (places[photo, default: []].count > 1
          || !contents[photo, default: []].subtracting([before.content]).isDisjoint(with: departedContents))
    }
    return Set(lost.map(\.value.content))
  }

  private func sharesPlace(_ photo: Int) -> Bool {
    places[photo, default: []].contains { occupants[$0, default: []].count > 1 }
  }

  /// Whether a photo must keep its id whatever its content is: it has user data and was always in its place, and no event
  /// was lost.
  private func isKept(_ photo: Int, _ now: Placement) -> Bool {
    guard let before = known[photo], before.isGiven, before.place == now.place, places[photo] == [now.place] else {
      return false
    }
    return !isLossy && !hasFolderChanges && !lossy.contains(photo) && !absent.contains(photo)
      && !linked.contains(photo) && !carried.contains(photo) && exchanged[photo] == nil
  }

  private func promises(_ photo: Int, _ now: Placement, open: Set<Int>, kinds: [SimulatedDisk.Kind]) -> Bool {
    guard let before = known[photo], !unseen.contains(photo), !mayBeSuccessor(photo) || isKept(photo, now) else {
      return false
    }
    if carried.contains(photo) && (!isDated(photo) || isLossy || hasFolderChanges || lossy.contains(photo)) {
      return false
    }
    let isMoved = places[photo, default: []].count > 1 || before.place != now.place
    let kind = kinds[now.key.volume]
    // FAT's inodes prove nothing. A page that was read only at its beginning is not recognised in another place.
    if kind == .fat && isMoved && SimulatedDisk.isPage(now.content) { return false }
    let isCertain = !isLossy && !hasFolderChanges && !lossy.contains(photo)
    if isCertain { return true }
    // A half written file has no content by which it is recognised in another place.
    if isMoved && (open.contains(photo) || openBefore.contains(photo)) { return false }
    // Inode and birth time prove which photo it is, whatever other file has its place.
    let isSameFile = !replaced.contains(photo) && !linked.contains(photo) && before.content == now.content
    if kind == .ext4, isSameFile, !carried.contains(photo), !hasFolderChanges, !lossy.contains(photo) { return true }
    if sharesPlace(photo) { return false }
    if linked.contains(photo) { return false }
    guard isMoved else { return true }
    let isChanged = contents[photo, default: []].count > 1 && before.content != now.content
    if kind != .fat && replaced.contains(photo) { return false }
    if kind != .ext4 && isChanged { return false }
    return kind != .fat || !(remounted.contains(now.key.volume) || lossy.contains(photo))
  }

  /// The last state of a photo that was put back from a backup, if it must be the same asset. Nothing else ever had its
  /// place or its content then.
  ///
  /// A page is exempt: it is proven only if a sample or a hash was made before its removal.
  private func promisesReturn(_ photo: Int, _ now: Placement) -> Known? {
    guard restored.contains(photo), !unseen.contains(photo), !linked.contains(photo), !carried.contains(photo),
      !SimulatedDisk.isPage(now.content), let before = known[photo] ?? departed[photo],
      before.place == now.place, before.content == now.content, contents[photo] == [now.content],
      allPlaces[photo, default: []].filter({ !$0.contains(" of ") }) == [now.place]
    else { return nil }
    let isAlone =
      contents.allSatisfy { $0.key == photo || !$0.value.contains(now.content) }
      && allPlaces.allSatisfy { $0.key == photo || !$0.value.contains(now.place) }
    return isAlone ? before : nil
  }

  /// The photos that may have had an id.
  ///
  /// - Parameter passing: photos that left within the epoch. A photo that came in an earlier epoch counts only as a
  ///   copy, unless nothing proved what it is.
  private func bearers(of id: AssetID, passing: Set<Int>, kinds: [SimulatedDisk.Kind]) -> Set<Int> {
    guard let owner = owners[id] else { return [] }
    var found = passed[id, default: []].union([owner])
    var (open, left) = (Array(found), passing.subtracting(found))
    while let one = open.popLast() {
      let next = left.filter {
        settled.contains($0) && !isUnproven($0, kinds: kinds) ? showSame(one, $0) : areAlike(one, $0)
      }
      found.formUnion(next)
      left.subtract(next)
      open += next
    }
    return found
  }

  /// Whether nothing proves which photo a file was that has left: it was changed, events were lost, and its inode may have
  /// been another file's.
  private func isUnproven(_ photo: Int, kinds: [SimulatedDisk.Kind]) -> Bool {
    guard isLossy, let before = known[photo], replaced.contains(photo) || absent.contains(photo) else { return false }
    return kinds[before.key.volume] != .ext4 && contents[photo, default: []].contains { $0 != before.content }
  }

  /// Whether the library may have taken a photo for a new one, if inodes prove nothing.
  private func mayBeNewThere(_ photo: Int) -> Bool {
    isLossy || hasFolderChanges || places[photo, default: []].count > 1
  }

  private func areAlike(_ old: Int, _ new: Int) -> Bool {
    if !allPlaces[old, default: []].isDisjoint(with: allPlaces[new, default: []]) { return true }
    if !paths[old, default: []].isDisjoint(with: paths[new, default: []]) { return true }
    return showSame(old, new)
  }

  /// The path in the library of a place on a volume. All volumes but the first are mounted at `/usb`.
  private static func path(of place: String) -> String {
    let path = place.drop { $0 != ":" }.dropFirst()
    return place.hasPrefix("0:") ? String(path) : "/usb" + path
  }

  private func showSame(_ old: Int, _ new: Int) -> Bool {
    !contents[old, default: []].isDisjoint(with: contents[new, default: []])
  }

  /// Ends the epoch with these visible photos and their ids.
  ///
  /// - Parameters:
  ///   - unavailable: the beginnings of the places in roots that are not there, or not configured.
  ///   - open: photos that a program is writing. The library still has their content from before, because no event has
  ///     reported the new one.
  mutating func settle(
    visible: [(photo: Int, path: String, id: AssetID)], placements: [Int: Placement], unavailable: [String],
    open: Set<Int>, kinds: [SimulatedDisk.Kind], hasUserData: (AssetID) -> Bool
  ) throws {
    for (photo, path, _) in visible { paths[photo, default: []].insert(path) }
    // The library may have such a photo although it never was in a settled state. Only when the root is back does the
    // library find that the photo has left, and an equal one may be its copy.
    let unseenDepartures = Set(
      places.filter { photo, had in
        !settled.contains(photo) && placements[photo]?.isHidden ?? true
          && had.contains { place in unavailable.contains { place.hasPrefix($0) } }
      }.keys)
    for photo in unseenDepartures { departedContents.formUnion(contents[photo, default: []]) }
    departedContents.formUnion(lostContents)
    // The library may find their old places later. Until then the copy is an asset of its own.
    for photo in carried where !isDated(photo) || isLossy || hasFolderChanges {
      departedContents.formUnion(contents[photo, default: []])
    }
    // A photo that came within the epoch may have had the id in between, and may have another one now.
    let passing = appeared.filter { placements[$0]?.isHidden ?? true || !settled.contains($0) }
    for id in Set(known.values.map(\.id)) {
      passed[id] = bearers(of: id, passing: passing, kinds: kinds).subtracting(owners[id].map { [$0] } ?? [])
    }
    // A deleted photo may have come back as one of these. A photo that came to its place since may be taken for it later.
    for (id, owner) in owners where !known.values.contains(where: { $0.id == id }) {
      passed[id] = bearers(of: id, passing: unseenDepartures, kinds: kinds).subtracting([owner])
    }
    for (photo, path, id) in visible {
      let placement = placements[photo]!
      let isOwnAgain =
        (carried.contains(photo) || (kinds[placement.key.volume] == .fat && mayBeNewThere(photo)))
        && known[photo]?.isGiven == false && allIDs[photo, default: []].contains(id)
      if let before = known[photo], promises(photo, placement, open: open, kinds: kinds) {
        if disturbed.contains(photo) { judgements.touched += 1 }
        if carried.contains(photo) { judgements.carried += 1 }
        if before.id != id, !isOwnAgain {
          throw SimulationFailure(
            "\(path) (photo \(photo), once \(before.place)) had id \(before.id) and has \(id) now")
        }
      }
      if let before = promisesReturn(photo, placement) {
        judgements.returned += 1
        if before.id != id {
          throw SimulationFailure("\(path) (photo \(photo)) was put back, had id \(before.id) and has \(id) now")
        }
      }
      // If events were lost, a name of a file may have the id that another name of it may have.
      let names = isLossy && linked.contains(photo) ? mates[photo, default: []].union([photo]) : [photo]
      if let owner = owners[id], owner != photo,
        !bearers(of: id, passing: passing.subtracting([photo]), kinds: kinds).contains(where: { bearer in
          names.contains { ($0 == bearer && $0 != photo) || areAlike(bearer, $0) }
        })
      {
        throw SimulationFailure("\(path) (photo \(photo)) has id \(id), which was photo \(owner)'s")
      }
      if let owner = owners.updateValue(photo, forKey: id), owner != photo {
        passed[id] = nil
        // The asset came when the other photo did.
        if misdated.contains(owner) { misdated.insert(photo) }
      }
      settled.insert(photo)
      allIDs[photo, default: []].insert(id)
    }
    let ids = Set(visible.map(\.photo))
    /// A photo that is out of sight keeps the notes about it.
    func isAway(_ photo: Int) -> Bool { placements[photo] != nil && !ids.contains(photo) }
    for (photo, before) in known where placements[photo] == nil { departed[photo] = before }
    openBefore = open
    let openContents = known.filter { open.contains($0.key) }.mapValues(\.content)
    known = known.filter { isAway($0.key) }
    restored = restored.filter { placements[$0] == nil || isAway($0) }
    for (photo, _, id) in visible {
      let placement = placements[photo]!
      known[photo] = Known(
        id: id, key: placement.key, place: placement.place, content: openContents[photo] ?? placement.content,
        isGiven: hasUserData(id))
    }
    lossy = Set(placements.keys.filter { isAway($0) && (isLossy || hasFolderChanges || lossy.contains($0)) })
    places = places.filter { isAway($0.key) }
    let awayPlaces = places.values.reduce(into: Set()) { $0.formUnion($1) }
    occupants = occupants.filter { awayPlaces.contains($0.key) }
    disturbed = disturbed.filter(isAway)
    appeared = []
    unseen = unseen.filter(isAway)
    absent = absent.filter(isAway)
    replaced = replaced.filter(isAway)
    linked = linked.filter(isAway)
    carried = carried.filter(isAway)
    carriedAt = carriedAt.filter { isAway($0.key) }
    isLossy = false
    hasFolderChanges = false
    isClockSet = false
    remounted = []
    note(placements)
  }
}

struct SimulationFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension SimulatedDisk {
  /// The place of each photo on all volumes, mounted or not.
  func placements(roots: [String], rules: NameRules) -> [Int: SimulationOracle.Placement] {
    var placements: [Int: SimulationOracle.Placement] = [:]
    let outside = ["/pics", "/inbox", "/outside"].filter { !roots.contains($0) }
    func walk(_ volume: Int, _ inode: UInt64, _ path: String, isHidden: Bool, isDenied: Bool) {
      let folder = node(NodeKey(volume: volume, inode: inode))
      let isHidden = isHidden || folder.entries[".nomedia"] != nil
      let isDenied = isDenied || !folder.isReadable
      let mounted = volume == 0 ? path : "/usb" + path
      for (name, entry) in folder.entries {
        if entry.photo == 0 {
          walk(
            volume, entry.inode, path + "/" + name,
            isHidden: isHidden || name.hasPrefix(".") || rules.ignores(name, isDirectory: true, in: mounted),
            isDenied: isDenied)
        } else {
          let key = NodeKey(volume: volume, inode: entry.inode)
          let file = node(key)
          placements[entry.photo] = SimulationOracle.Placement(
            key: key, place: "\(volume):\(path)/\(name)",
            seat: "\(volume):\(inode) of \(folder.birthTime)/\(name)", content: file.content,
            isHidden: isHidden || !SimulatedWatcher.wants(name)
              || rules.ignores(name, isDirectory: false, in: mounted)
              || (volume == 0 && outside.contains { path.hasPrefix($0) }),
            isDenied: isDenied, hasLinks: file.linkCount > 1)
        }
      }
    }
    for volume in volumes.indices { walk(volume, 1, "", isHidden: false, isDenied: false) }
    return placements
  }
}
