import WatchRecords

// The directories: which are known, which are listed, which are missing.
extension SimulatedWatcher {
  // MARK: The tree

  func children(of number: DirectoryNumber) -> [DirectoryNumber] {
    nodes.filter { $0.value.parent == number }.keys.sorted()
  }

  func child(of number: DirectoryNumber, _ name: String) -> DirectoryNumber? {
    children(of: number).first { nodes[$0]!.name == name && !nodes[$0]!.isDisplaced }
  }

  /// The top first.
  func subtree(_ top: DirectoryNumber) -> [DirectoryNumber] {
    var found = [top]
    var index = 0
    while index < found.count {
      found += children(of: found[index])
      index += 1
    }
    return found
  }

  func root(of number: DirectoryNumber) -> UInt16 {
    var node = nodes[number]!
    while node.parent != 0 { node = nodes[node.parent]! }
    return node.root
  }

  func path(of number: DirectoryNumber) -> String {
    let node = nodes[number]!
    return node.parent == 0 ? roots[node.root]!.path : path(of: node.parent) + "/" + node.name
  }

  func isWithin(_ number: DirectoryNumber, _ ancestor: DirectoryNumber) -> Bool {
    var current = number
    while current != 0 {
      if current == ancestor { return true }
      current = nodes[current]!.parent
    }
    return false
  }

  /// The directory of this number, if its believed path leads to it just now.
  func open(_ number: DirectoryNumber) -> Result<SimulatedDisk.NodeKey, SimulatedError> {
    switch disk.open(path(of: number)) {
    case .failure(let error): .failure(error)
    case .success(let key): disk.identity(key) == nodes[number]!.identity ? .success(key) : .failure(.stale)
    }
  }

  // MARK: Adopting

  func enter(_ parent: DirectoryNumber, _ name: String) {
    guard case .success = open(parent) else { return doubt(parent) }
    switch disk.open(path(of: parent) + "/" + name) {
    case .success(let key): adopt(key, under: parent, name, .event, scan: nil, isRecursive: false)
    case .failure(.absent): break
    case .failure(let error): cannotEnter(parent, name, error)
    }
  }

  private func cannotEnter(_ parent: DirectoryNumber, _ name: String, _ error: SimulatedError) {
    if child(of: parent, name) == nil { nodes[parent]!.unentered.insert(name) }
    say(.unreadable(directory: parent, name: Array(name.utf8), errorNumber: error.number))
  }

  func sayUnenteredGone(_ name: String, from number: DirectoryNumber) {
    guard nodes[number]!.unentered.contains(name) else { return }
    note(Place(directory: number, name: name), onlyCreated: false)
  }

  private func adopt(
    _ key: SimulatedDisk.NodeKey, under parent: DirectoryNumber, _ name: String, _ evidence: Evidence, scan: Int?,
    isRecursive: Bool
  ) {
    let watch = disk.addWatch(key)
    if let watch, let known = byWatch[watch] {
      if nodes[known]!.parent == 0 {
        guard !isWithin(parent, known) else { return refuse(parent, name) }
        loseRoot(nodes[known]!.root, 2)
        return adopt(key, under: parent, name, evidence, scan: scan, isRecursive: isRecursive)
      }
      return settleKnown(known, under: parent, name, evidence, scan: scan, isRecursive: isRecursive)
    }
    let identity = disk.identity(key)
    if let known = nodes.first(where: { $0.value.watch == nil && $0.value.identity == identity && $0.value.parent != 0 }
    )?.key,
      missing[known]?.isDead != true
    {
      if let watch {
        nodes[known]!.watch = watch
        byWatch[watch] = known
        requestListing(known, .scan)
      }
      return settleKnown(known, under: parent, name, evidence, scan: scan, isRecursive: isRecursive)
    }
    displaceOccupant(of: parent, name, evidence)
    lastNumber += 1
    let number = lastNumber
    nodes[number] = Node(key: key, identity: identity, parent: parent, name: name, root: 0, watch: watch)
    if let watch { byWatch[watch] = number }
    say(
      .directoryFound(
        number: number, parent: parent, root: root(of: number), name: Array(name.utf8), identity: identity))
    requestListing(
      number, scan == nil ? .event : evidence, scan: scan ?? roots[root(of: number)]!.activeScan,
      isRecursive: isRecursive)
  }

  private func settleKnown(
    _ known: DirectoryNumber, under parent: DirectoryNumber, _ name: String, _ evidence: Evidence, scan: Int?,
    isRecursive: Bool
  ) {
    let node = nodes[known]!
    var scan = scan
    var isRecursive = isRecursive
    if node.parent != parent || node.isDisplaced || node.name != name {
      guard !isWithin(parent, known) else { return refuse(parent, name) }
      let scanBefore = roots[root(of: known)]?.activeScan
      displaceOccupant(of: parent, name, evidence)
      nodes[known]!.parent = parent
      nodes[known]!.name = name
      nodes[known]!.isDisplaced = false
      say(.directoryMoved(number: known, parent: parent, name: Array(name.utf8)))
      if let running = scan ?? scanBefore ?? roots[root(of: known)]?.activeScan {
        scan = running
        isRecursive = true
      }
    }
    missing[known] = nil
    refusals[known] = nil
    if isRecursive { requestListing(known, .scan, scan: scan, isRecursive: true) }
  }

  private func refuse(_ parent: DirectoryNumber, _ name: String) {
    let count = refusals[parent, default: 0] + 1
    refusals[parent] = count
    if count <= 5 { doubt(parent) } else { cannotEnter(parent, name, .denied) }
  }

  private func displaceOccupant(of parent: DirectoryNumber, _ name: String, _ evidence: Evidence) {
    guard let occupant = child(of: parent, name) else { return }
    nodes[occupant]!.isDisplaced = true
    markMissing(occupant, evidence)
  }

  // MARK: Going

  func markMissing(_ number: DirectoryNumber, _ evidence: Evidence) {
    if missing[number] != nil {
      if evidence == .event { missing[number]!.evidence = .event }
      missing[number]!.since = now
    } else {
      missing[number] = Missing(since: now, evidence: evidence, stamp: stamp)
    }
  }

  private func drop(_ number: DirectoryNumber, _ evidence: Evidence) {
    forget(number)
    say(.directoryGone(number: number, evidence: evidence))
  }

  func forget(_ top: DirectoryNumber) {
    for number in subtree(top).reversed() {
      if let watch = nodes[number]!.watch {
        byWatch[watch] = nil
        disk.removeWatch(watch)
      }
      missing[number] = nil
      if let request = requests.removeValue(forKey: number), let scan = request.scan { scans[scan]?.remaining -= 1 }
      refusals[number] = nil
    }
    for number in subtree(top).reversed() { nodes[number] = nil }
  }

  /// Whether the directory or one above it is missing.
  private func hasMissing(at number: DirectoryNumber) -> Bool {
    var current = number
    while current != 0 {
      if missing[current] != nil { return true }
      current = nodes[current]!.parent
    }
    return false
  }

  func settleMissing(_ forced: Int) {
    guard held.isEmpty else { return }
    let isScanning = scans.values.contains { $0.remaining > 0 }
    for (number, entry) in missing.sorted(by: { ($0.value.stamp, $0.key) < ($1.value.stamp, $1.key) }) {
      guard missing[number] != nil else { continue }
      var grace = Self.goneGrace
      if entry.isDead {
        grace = 0
      } else if entry.stamp <= forced {
        grace = Self.forcedGrace
      } else if entry.evidence == .scan, let scan = roots[root(of: number)]?.activeScan, scans[scan]?.remaining == 0 {
        grace = Self.forcedGrace
      }
      guard entry.retryAt <= now, now - entry.since >= grace else { continue }
      if entry.evidence == .scan, isScanning, !entry.isDead { continue }
      let parent = nodes[number]!.parent
      guard parent == 0 || !hasMissing(at: parent) else { continue }
      stamp = entry.stamp
      decide(number, entry)
    }
    stamp = eventCount
  }

  private func decide(_ number: DirectoryNumber, _ entry: Missing) {
    let node = nodes[number]!
    if entry.isDead || node.isDisplaced { return drop(number, entry.evidence) }
    guard case .success = open(node.parent) else {
      doubt(node.parent)
      missing[number]!.retryAt = now + 50 * milliseconds
      return
    }
    switch disk.open(path(of: node.parent) + "/" + node.name) {
    case .failure(.absent): drop(number, entry.evidence)
    case .failure(let error):
      missing[number] = nil
      cannotEnter(node.parent, node.name, error)
    case .success(let key):
      missing[number] = nil
      adopt(key, under: node.parent, node.name, entry.evidence, scan: nil, isRecursive: false)
    }
  }

  // MARK: Listing

  func requestListing(_ number: DirectoryNumber, _ evidence: Evidence, scan: Int? = nil, isRecursive: Bool = false) {
    guard var request = requests[number] else {
      requests[number] = Request(evidence: evidence, scan: scan, isRecursive: isRecursive, stamp: stamp)
      if let scan { scans[scan]?.remaining += 1 }
      ready.append(number)
      return
    }
    if request.scan == nil, let scan {
      request.scan = scan
      scans[scan]?.remaining += 1
    }
    if evidence == .scan { request.evidence = .scan }
    request.isRecursive = request.isRecursive || isRecursive
    if request.isDoubtful {
      request.isDoubtful = false
      ready.append(number)
    }
    requests[number] = request
  }

  func doubt(_ number: DirectoryNumber) {
    guard requests[number] == nil else { return }
    requests[number] = Request(isDoubtful: true, evidence: .event, scan: nil, isRecursive: false, stamp: stamp)
  }

  func list(_ number: DirectoryNumber) {
    guard nodes[number] != nil, var request = requests[number], !request.isDoubtful else { return }
    let key: SimulatedDisk.NodeKey
    switch open(number) {
    case .success(let opened): key = opened
    case .failure(.denied): return giveUp(number, request)
    case .failure:
      request.isDoubtful = true
      request.attempts = 0
      request.retryAt = 0
      requests[number] = request
      return
    }
    stamp = request.stamp
    let watch = nodes[number]!.watch
    let isRenaming =
      disk.queue.contains { $0.watch == watch && ($0.kind == .movedFrom || $0.kind == .movedTo) && !$0.name.isEmpty }
      || held.values.contains { $0.place.directory == number }
    if watch != nil, request.postponements < 20, isRenaming {
      request.postponements += 1
      request.isDoubtful = true
      request.attempts = 0
      request.retryAt = now + milliseconds
      requests[number] = request
      stamp = eventCount
      return
    }
    requests[number] = nil
    apply(request, number, key)
    if let scan = request.scan { scans[scan]?.remaining -= 1 }
    stamp = eventCount
  }

  private func apply(_ request: Request, _ number: DirectoryNumber, _ key: SimulatedDisk.NodeKey) {
    let entries = disk.node(key).entries.sorted { $0.key < $1.key }
    let hasMarker = entries.contains { $0.key == ".nomedia" }
    say(.listingStarted(number: number, evidence: request.evidence))
    if hasMarker {
      say(.ignored(directory: number, name: []))
    } else {
      for name in nodes[number]!.unentered.sorted() where !entries.contains(where: { $0.key == name }) {
        say(.fileGone(directory: number, name: Array(name.utf8)))
      }
      nodes[number]!.unentered = []
      for (name, entry) in entries where entry.photo != 0 && Self.wants(name) {
        let file = SimulatedDisk.NodeKey(volume: key.volume, inode: entry.inode)
        say(.fileFound(directory: number, name: Array(name.utf8), stat: disk.fileStat(file)))
      }
    }
    nodes[number]!.isIncomplete = false
    say(.listingEnded(number: number, complete: true))
    if nodes[number]!.watch == nil {
      let node = disk.node(key)
      nodes[number]!.listedTimes = [node.modificationTime, node.changeTime]
      nodes[number]!.wasRecent = disk.clock.wallTime - node.changeTime < 2 * seconds
    }
    nodes[number]!.ignoresContents = hasMarker
    if hasMarker {
      for child in children(of: number) { drop(child, .event) }
      return
    }
    let folders = entries.filter { $0.value.photo == 0 && !$0.key.hasPrefix(".") }.map(\.key)
    for child in children(of: number) where !nodes[child]!.isDisplaced && !folders.contains(nodes[child]!.name) {
      markMissing(child, request.evidence)
    }
    let path = path(of: number)
    for name in folders {
      switch disk.open(path + "/" + name) {
      case .success(let opened):
        if !request.isRecursive, let child = child(of: number, name), nodes[child]!.key == opened, missing[child] == nil
        {
          continue
        }
        adopt(opened, under: number, name, request.evidence, scan: request.scan, isRecursive: request.isRecursive)
      case .failure(.absent): break
      case .failure(let error): cannotEnter(number, name, error)
      }
    }
  }

  private func giveUp(_ number: DirectoryNumber, _ request: Request) {
    nodes[number]!.isIncomplete = true
    let node = nodes[number]!
    say(
      .unreadable(
        directory: node.parent == 0 ? number : node.parent, name: Array(node.name.utf8), errorNumber: 13))
    requests[number] = nil
    if let scan = request.scan { scans[scan]?.remaining -= 1 }
  }

  func retryDoubtful() {
    for (number, request) in requests.sorted(by: { $0.key < $1.key }) where request.isDoubtful && request.retryAt <= now
    {
      guard nodes[number] != nil, requests[number]?.isDoubtful == true else { continue }
      var request = requests[number]!
      switch open(number) {
      case .success:
        request.isDoubtful = false
        requests[number] = request
        ready.append(number)
      case .failure(.denied): giveUp(number, request)
      case .failure:
        request.attempts += 1
        guard nodes[number]!.parent != 0 else {
          disk.mountsChanged = true
          request.retryAt = now + 50 * milliseconds
          requests[number] = request
          continue
        }
        request.retryAt = now + 20 * milliseconds * Int64(min(request.attempts, 50))
        requests[number] = request
        if request.attempts >= 3, !hasMissing(at: number) { relistAncestor(of: number, request.stamp) }
        if request.attempts >= 21 { giveUp(number, request) }
      }
    }
  }

  private func relistAncestor(of number: DirectoryNumber, _ cause: Int) {
    var ancestor = nodes[number]!.parent
    while ancestor != 0 {
      if case .success = open(ancestor) {
        stamp = cause
        requestListing(ancestor, nodes[ancestor]!.watch == nil ? .scan : .event)
        stamp = eventCount
        return
      }
      ancestor = nodes[ancestor]!.parent
    }
    disk.mountsChanged = true
  }

  func pollUnwatched() {
    for number in nodes.keys.sorted() where nodes[number]?.watch == nil && requests[number] == nil {
      guard missing[number]?.isDead != true else { continue }
      switch open(number) {
      case .failure: doubt(number)
      case .success(let key):
        if let watch = disk.addWatch(key), byWatch[watch] == nil {
          nodes[number]!.watch = watch
          byWatch[watch] = number
          requestListing(number, .scan)
          continue
        }
        let node = disk.node(key)
        if nodes[number]!.wasRecent || nodes[number]!.listedTimes != [node.modificationTime, node.changeTime] {
          requestListing(number, .scan)
        }
      }
    }
  }
}
