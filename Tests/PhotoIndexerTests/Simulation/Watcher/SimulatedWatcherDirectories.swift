import WatchRecords

// The known and the missing directories.
extension SimulatedWatcher {
  // MARK: The tree

  func children(of number: DirectoryNumber) -> [DirectoryNumber] {
    nodes.filter { $0.value.parent == number }.keys.sorted()
  }

  func child(of number: DirectoryNumber, _ name: String) -> DirectoryNumber? {
    children(of: number).first { nodes[$0]!.name == name && !nodes[$0]!.isDisplaced }
  }

  /// The directories of a subtree, the top first.
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

  /// Opens the directory with this number, if its assumed path leads to it at the moment.
  func open(_ number: DirectoryNumber) -> Result<SimulatedDisk.NodeKey, SimulatedError> {
    switch disk.open(path(of: number)) {
    case .failure(let error): .failure(error)
    case .success(let key): disk.identity(key) == nodes[number]!.identity ? .success(key) : .failure(.stale)
    }
  }

  // MARK: Adopting

  func enter(_ parent: DirectoryNumber, _ name: String) {
    guard case .success = open(parent) else {
      if let child = child(of: parent, name) { missing[child]?.evidence = .scan }
      return doubt(parent)
    }
    switch disk.open(path(of: parent) + "/" + name) {
    case .success(let key): adopt(key, under: parent, name, .event, scan: nil, isRecursive: false)
    case .failure(.absent): break
    case .failure(let error): cannotEnter(parent, name, error)
    }
  }

  func cannotEnter(_ parent: DirectoryNumber, _ name: String, _ error: SimulatedError) {
    if let child = child(of: parent, name) {
      nodes[child]!.isIncomplete = true
    } else {
      nodes[parent]!.unentered.insert(name)
    }
    send(.unreadable(directory: parent, name: SimulatedName.bytes(name), errorNumber: error.number))
  }

  func sendUnenteredGone(_ name: String, from number: DirectoryNumber) {
    guard nodes[number]!.unentered.contains(name) else { return }
    note(Place(directory: number, name: name), onlyCreated: false, event: .none)
  }

  func adopt(
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
    send(
      .directoryFound(
        number: number, parent: parent, root: root(of: number), name: SimulatedName.bytes(name), identity: identity))
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
    let isHere = node.parent == parent && !node.isDisplaced && node.name == name
    if !isHere {
      guard !isWithin(parent, known) else { return refuse(parent, name) }
      let scanBefore = roots[root(of: known)]?.activeScan
      displaceOccupant(of: parent, name, evidence)
      nodes[known]!.parent = parent
      nodes[known]!.name = name
      nodes[known]!.isDisplaced = false
      send(.directoryMoved(number: known, parent: parent, name: SimulatedName.bytes(name)))
      // Patterns about paths may match other names below it now.
      if rules.needsFolder { isRecursive = true }
      scan = scan ?? scanBefore
    }
    // A running scan may have missed the directory.
    if !isHere || missing[known] != nil, let running = scan ?? roots[root(of: known)]?.activeScan {
      scan = running
      isRecursive = true
    }
    missing[known] = nil
    refusals[known] = nil
    if isRecursive || nodes[known]!.isIncomplete { requestListing(known, .scan, scan: scan, isRecursive: true) }
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
      missing[number]!.retryAt = 0
      missing[number]!.attempts = 0
    } else {
      missing[number] = Missing(since: now, evidence: evidence, stamp: stamp)
    }
  }

  /// A queued event may report that the directory has left this name.
  func exclude(_ number: DirectoryNumber) {
    nodes[number]!.isDisplaced = true
    markMissing(number, .event)
  }

  func drop(_ number: DirectoryNumber, _ evidence: Evidence) {
    forget(number)
    send(.directoryGone(number: number, evidence: evidence))
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
  func hasMissing(at number: DirectoryNumber) -> Bool {
    var current = number
    while current != 0 {
      if missing[current] != nil { return true }
      current = nodes[current]!.parent
    }
    return false
  }

  func settleMissing(_ forced: Int) {
    guard held.isEmpty else { return }
    let isScanning = hasOverflowed || scans.values.contains { $0.remaining > 0 }
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
    if case .failure(let error) = open(node.parent) {
      let isRefused = error == .denied
      if isRefused, entry.evidence == .event, nodes[node.parent]!.watch != nil { return drop(number, .event) }
      doubt(node.parent)
      missing[number]!.retryAt = now + min((50 * milliseconds) << Int64(entry.attempts), 60 * seconds)
      if isRefused { missing[number]!.attempts += 1 }
      return
    }
    switch disk.open(path(of: node.parent) + "/" + node.name) {
    case .failure(.absent): drop(number, entry.evidence)
    case .failure(let error):
      missing[number] = nil
      cannotEnter(node.parent, node.name, error)
    case .success(let key):
      missing[number] = nil
      let scan = roots[root(of: number)]?.activeScan
      adopt(key, under: node.parent, node.name, entry.evidence, scan: scan, isRecursive: scan != nil)
    }
  }
}
