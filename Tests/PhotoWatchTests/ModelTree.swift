// SPDX-License-Identifier: Apache-2.0

import PhotoWatch
import WatchRecords

/// What a reader of watch records knows of the disk: the plainest consumer, and with that the specification of what the
/// records mean. It holds them to their order as well: `violations` says what should never have been said.
struct ModelTree {
  struct Directory {
    var root: UInt16
    var parent: DirectoryNumber
    var name: [UInt8]
    var files: [[UInt8]: FileStat] = [:]
    /// False while another directory stands in its place: then a later record says where it is, or that it is gone.
    var isPlaced = true
    /// The files that the running listing has named.
    var listed: Set<[UInt8]>?
  }

  struct Place: Hashable {
    var parent: DirectoryNumber
    var name: [UInt8]
  }

  private(set) var directories: [DirectoryNumber: Directory] = [:]
  private(set) var synced: Set<UInt64> = []
  private(set) var violations: [String] = []
  private var children: [DirectoryNumber: Set<DirectoryNumber>] = [:]
  private var occupants: [Place: DirectoryNumber] = [:]
  private var greatestNumber: DirectoryNumber = 0
  private var runningScans: [UInt16: UInt32] = [:]

  mutating func apply(_ input: WatchInput) {
    switch input {
    case .started: self = ModelTree(violations: violations, synced: synced)
    case .batch(let records): for record in records { apply(record) }
    case .died: break
    }
  }

  init() {}

  private init(violations: [String], synced: Set<UInt64>) {
    self.violations = violations
    self.synced = synced
  }

  mutating func apply(_ record: WatchRecord) {
    switch record {
    case .directoryFound(let number, let parent, let root, let name, _):
      if number <= greatestNumber { violations.append("number \(number) is used again") }
      greatestNumber = max(greatestNumber, number)
      if parent != 0, directories[parent] == nil {
        violations.append("\(number) is found in \(parent), which is unknown")
      }
      directories[number] = Directory(root: root, parent: parent, name: name)
      occupy(number, Place(parent: parent, name: name))

    case .directoryMoved(let number, let parent, let name):
      guard let directory = directories[number], directories[parent] != nil else {
        return violations.append("\(number) moves to \(parent), unknown")
      }
      leave(number, directory)
      directories[number]?.parent = parent
      directories[number]?.name = name
      directories[number]?.isPlaced = true
      occupy(number, Place(parent: parent, name: name))

    case .directoryGone(let number, _):
      guard directories[number] != nil else { return violations.append("\(number) goes, unknown") }
      remove(number)

    case .listingStarted(let number, _):
      guard directories[number] != nil else { return violations.append("\(number) is listed, unknown") }
      directories[number]?.listed = []

    case .listingEnded(let number, let complete):
      guard let listed = directories[number]?.listed else { return violations.append("no listing of \(number) ends") }
      if complete, let files = directories[number]?.files {
        directories[number]?.files = files.filter { listed.contains($0.key) }
      }
      directories[number]?.listed = nil

    case .fileFound(let directory, let name, let stat):
      guard directories[directory] != nil else { return violations.append("a file in \(directory), unknown") }
      directories[directory]?.files[name] = stat
      directories[directory]?.listed?.insert(name)

    case .fileGone(let directory, let name):
      guard directories[directory] != nil else { return violations.append("no file in \(directory), unknown") }
      directories[directory]?.files[name] = nil

    case .fileMoved(let from, let fromName, let to, let toName, let stat):
      guard directories[from] != nil, directories[to] != nil else {
        return violations.append("a file moves from \(from) to \(to), unknown")
      }
      let known = directories[from]?.files.removeValue(forKey: fromName)
      // Without a stat it has left the new name again: what was known goes there, until a later record says more.
      directories[to]?.files[toName] = stat ?? known

    case .rootOffline(let root, _):
      for (number, directory) in directories where directory.root == root && directory.parent == 0 { remove(number) }

    case .scanStarted(let root, let request, _):
      if runningScans[root] != nil { violations.append("two scans of root \(root) at once") }
      runningScans[root] = request

    case .scanEnded(let root, let request, _):
      if runningScans.removeValue(forKey: root) != request { violations.append("a scan of root \(root) ends unbegun") }

    case .synced(let number):
      if !runningScans.isEmpty { violations.append("synced while a scan runs") }
      synced.insert(number)

    case .overflow, .polling, .watchBudget, .unreadable, .ignored, .alive: break
    }
  }

  /// Every file with its path; those in directories without a place have none.
  var files: [[UInt8]: FileStat] {
    var found: [[UInt8]: FileStat] = [:]
    for (number, directory) in directories {
      guard let path = path(of: number) else { continue }
      for (name, stat) in directory.files { found[path + [UInt8(ascii: "/")] + name] = stat }
    }
    return found
  }

  var directoryPaths: Set<[UInt8]> { Set(directories.keys.compactMap(path(of:))) }

  func number(ofPath wanted: [UInt8]) -> DirectoryNumber? { directories.keys.first { path(of: $0) == wanted } }

  /// nil when it, or one above it, is without a place.
  func path(of number: DirectoryNumber) -> [UInt8]? {
    var names: [[UInt8]] = []
    var number = number
    while number != 0 {
      guard let directory = directories[number], directory.isPlaced, names.count < 10_000 else { return nil }
      names.append(directory.name)
      number = directory.parent
    }
    return Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
  }

  private mutating func occupy(_ number: DirectoryNumber, _ place: Place) {
    if let occupant = occupants[place], occupant != number { directories[occupant]?.isPlaced = false }
    occupants[place] = number
    children[place.parent, default: []].insert(number)
  }

  private mutating func leave(_ number: DirectoryNumber, _ directory: Directory) {
    let place = Place(parent: directory.parent, name: directory.name)
    if occupants[place] == number { occupants[place] = nil }
    children[directory.parent]?.remove(number)
  }

  private mutating func remove(_ number: DirectoryNumber) {
    guard let directory = directories.removeValue(forKey: number) else { return }
    leave(number, directory)
    for child in children.removeValue(forKey: number) ?? [] { remove(child) }
  }
}
