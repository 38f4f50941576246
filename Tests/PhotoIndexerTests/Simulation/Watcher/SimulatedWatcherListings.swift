import WatchRecords

// The listings of directories, and the retries.
extension SimulatedWatcher {
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
    case .failure(.denied): return endListing(number, request)
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
    let ignored = entries.filter { name, entry in
      (entry.photo == 0 ? !name.hasPrefix(".") : Self.wants(name))
        && isIgnored(name, isDirectory: entry.photo == 0, in: number)
    }.map(\.key)
    let hasMarker = entries.contains { $0.key == ".nomedia" }
    send(.listingStarted(number: number, evidence: request.evidence))
    if hasMarker {
      send(.ignored(directory: number, name: []))
    } else {
      for name in nodes[number]!.unentered.sorted() where !entries.contains(where: { $0.key == name }) {
        send(.fileGone(directory: number, name: SimulatedName.bytes(name)))
      }
      nodes[number]!.unentered = []
      for name in ignored { send(.ignored(directory: number, name: SimulatedName.bytes(name))) }
      for (name, entry) in entries where entry.photo != 0 && wantsFile(name, in: number) {
        let file = SimulatedDisk.NodeKey(volume: key.volume, inode: entry.inode)
        send(.fileFound(directory: number, name: SimulatedName.bytes(name), stat: disk.fileStat(file)))
      }
    }
    nodes[number]!.isIncomplete = false
    send(.listingEnded(number: number, complete: true))
    if nodes[number]!.watch == nil {
      let node = disk.node(key)
      nodes[number]!.listedTimes = [node.modificationTime, node.changeTime]
      nodes[number]!.wasRecent = disk.clock.wall - node.changeTime < 2 * seconds
    }
    nodes[number]!.ignoresContents = hasMarker
    if hasMarker {
      for child in children(of: number) { exclude(child) }
      return
    }
    let folders = entries.filter { $0.value.photo == 0 && wantsDirectory($0.key, in: number) }.map(\.key)
    for child in children(of: number) where !nodes[child]!.isDisplaced && ignored.contains(nodes[child]!.name) {
      // A directory above it was renamed, so a pattern matches it now.
      exclude(child)
    }
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

  private func endListing(_ number: DirectoryNumber, _ request: Request) {
    nodes[number]!.isIncomplete = true
    let node = nodes[number]!
    send(
      .unreadable(
        directory: node.parent == 0 ? number : node.parent, name: SimulatedName.bytes(node.name), errorNumber: 13))
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
      case .failure(.denied): endListing(number, request)
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
        if request.attempts >= 21 { endListing(number, request) }
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
