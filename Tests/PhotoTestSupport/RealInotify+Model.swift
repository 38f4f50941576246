// SPDX-License-Identifier: Apache-2.0

import PhotoWatch
import WatchRecords

/// The disk as a reader of watch records knows it. It is the simplest consumer, and so the specification of the meaning
/// of the records. It also checks their order: `violations` lists the records that should never have been sent.
package struct ModelTree {
  package struct Directory {
    package var root: UInt16
    package var parent: DirectoryNumber
    package var name: [UInt8]
    package var files: [[UInt8]: FileStat] = [:]
    /// False while another directory is at its place. A later record then reports its new place, or that it is gone.
    package var isPlaced = true
    /// The files that the current listing has named so far.
    package var listed: Set<[UInt8]>?
  }

  package struct Place: Hashable {
    package var parent: DirectoryNumber
    package var name: [UInt8]
  }

  package private(set) var directories: [DirectoryNumber: Directory] = [:]
  package private(set) var synced: Set<UInt64> = []
  package private(set) var violations: [String] = []
  private var children: [DirectoryNumber: Set<DirectoryNumber>] = [:]
  private var occupants: [Place: DirectoryNumber] = [:]
  private var greatestNumber: DirectoryNumber = 0
  /// The folders and files that could not be read. A folder itself is here with an empty name or with its own.
  private var unreadable: Set<Place> = []
  private var runningScans: [UInt16: UInt32] = [:]

  package mutating func apply(_ input: WatchInput) {
    switch input {
    case .started: self = ModelTree(violations: violations, synced: synced)
    case .batch(let records): for record in records { apply(record) }
    case .died: break
    }
  }

  package init() {}

  private init(violations: [String], synced: Set<UInt64>) {
    self.violations = violations
    self.synced = synced
  }

  package mutating func apply(_ record: WatchRecord) {
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
      // A listing reports once more what cannot be read in the folder.
      let itself = directories[number].map { Place(parent: $0.parent, name: $0.name) }
      unreadable = unreadable.filter { $0.parent != number && $0 != itself }

    case .listingEnded(let number, let complete):
      guard let listed = directories[number]?.listed else { return violations.append("no listing of \(number) ends") }
      if complete, let files = directories[number]?.files {
        directories[number]?.files = files.filter { listed.contains($0.key) }
      }
      directories[number]?.listed = nil

    case .fileFound(let directory, let name, let stat, _):
      guard directories[directory] != nil else { return violations.append("a file in \(directory), unknown") }
      directories[directory]?.files[name] = stat
      directories[directory]?.listed?.insert(name)

    case .fileGone(let directory, let name):
      guard directories[directory] != nil else { return violations.append("no file in \(directory), unknown") }
      directories[directory]?.files[name] = nil

    case .fileMoved(let from, let fromName, let to, let toName, let stat, let event):
      guard directories[from] != nil, directories[to] != nil else {
        return violations.append("a file moves from \(from) to \(to), unknown")
      }
      let known = directories[from]?.files[fromName]
      // The first half of an exchange has brought another file to the old name of the second.
      if event.naming != .secondOfExchange { directories[from]?.files[fromName] = nil }
      // Without a stat, the file has left the new name again. The known stat is kept there until a later record
      // corrects it.
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

    case .unreadable(let directory, let name, _): unreadable.insert(Place(parent: directory, name: name))

    case .overflow, .polling, .watchBudget, .ignored, .alive, .checkpoint: break
    }
  }

  /// Every file with its path. Files in directories without a place are left out.
  package var files: [[UInt8]: FileStat] {
    var found: [[UInt8]: FileStat] = [:]
    for (number, directory) in directories {
      guard let path = path(of: number) else { continue }
      for (name, stat) in directory.files { found[path + [UInt8(ascii: "/")] + name] = stat }
    }
    return found
  }

  package var directoryPaths: Set<[UInt8]> { Set(directories.keys.compactMap(path(of:))) }

  package var unreadablePaths: Set<[UInt8]> {
    Set(
      unreadable.compactMap { place in
        path(of: place.parent).map { place.name.isEmpty ? $0 : $0 + [UInt8(ascii: "/")] + place.name }
      })
  }

  package func number(ofPath wanted: [UInt8]) -> DirectoryNumber? { directories.keys.first { path(of: $0) == wanted } }

  /// nil if it, or a directory above it, has no place.
  package func path(of number: DirectoryNumber) -> [UInt8]? {
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
