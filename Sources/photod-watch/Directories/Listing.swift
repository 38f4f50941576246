// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// The result of reading a directory. All entries are looked at before the first is reported.
struct Listing {
  var files: [(name: [UInt8], stat: FileStat)] = []
  var directories: [(name: [UInt8], inode: UInt64)] = []
  /// The names of directories that are left out because a share is mounted there.
  var leftOut: [[UInt8]] = []
  /// The directory contains .nomedia or another marker.
  var hasMarker = false
  /// Names of files and directories that would be wanted if no configured pattern excluded them.
  var ignored: [[UInt8]] = []
  /// A name that could not be checked for being a marker. In that case, nothing else in the directory is reported.
  var unknownMarker: (name: [UInt8], errorNumber: Int32)?
  /// The directory contains CACHEDIR.TAG, with or without its signature.
  var hasCacheTag = false
  /// The entry that could not be read; an empty name for the directory itself. nil if everything was read.
  var failure: (name: [UInt8], errorNumber: Int32)?
  /// The directory's times before it was read. Set only for a polled directory.
  var times: PolledDirectories.Times?
  /// CLOCK_REALTIME before it was read. Set only for a polled directory.
  var beganAt = FileTime.unknown
}

extension FolderWatch {
  /// Reads a directory and looks at its entries, but reports nothing. Meanwhile the kernel's queue is kept short.
  /// - Returns: nil if a rename out of the directory or into it is queued but not handled yet.
  func readListing(_ index: NodeIndex, _ descriptor: Int32, _ request: ListingRequest) -> Listing? {
    var listing = Listing()
    var names: [[UInt8]] = []
    if tree[index].watch < 0 {
      listing.beganAt = FileTime.now
      if case .success(let look) = FileLook.of(descriptor) { listing.times = PolledDirectories.Times(look) }
    }
    readEntries(
      descriptor, in: rules.needsFolder ? folder(index) : nil, leftOut: leftOutNames(in: index), into: &listing,
      files: &names)
    if !listing.hasMarker, let unknown = listing.unknownMarker { listing.failure = unknown }
    if listing.hasMarker || listing.unknownMarker != nil {
      listing.directories = []
      listing.leftOut = []
      listing.ignored = []
      names = []
    }
    listing.files.reserveCapacity(names.count)
    for (position, name) in names.enumerated() {
      keepAlive()
      if position % 512 == 511 { _ = events.inotify.read(into: &events.backlog) }
      switch FileLook.at(descriptor, name) {
      case .success(let look):
        if look.isRegularFile { listing.files.append((name, look.stat)) }
      case .failure(let error):
        if !meansAbsent(error.number) { listing.failure = Self.failure(name, error) }
      }
    }
    // The names in a directory can be listed without the permission to look at them. A file shows that, or else ".".
    if names.isEmpty, !listing.hasMarker, listing.failure == nil, let error = OpenDirectories.refusal(descriptor) {
      listing.failure = ([], error.number)
    }
    // New photos get their ids in this order. It decides if nothing else distinguishes two photos. The catalog has its
    // rows in this order, too. So a first scan appends to full pages, and splits none.
    listing.files.sort { $0.name.precedes($1.name) }
    listing.directories.sort { $0.name.precedes($1.name) }
    let watch = tree[index].watch
    guard watch >= 0, request.postponements < 20 else { return listing }
    _ = events.inotify.read(into: &events.backlog)
    return events.backlog.hasRename(in: watch) || files.held.hasDeparture(from: tree.reference(index)) ? nil : listing
  }

  /// The permission to look at a file is its directory's. Without it, the directory counts as unreadable,
  /// and not the file.
  private static func failure(_ name: [UInt8], _ error: SystemError) -> (name: [UInt8], errorNumber: Int32) {
    (error.number == EACCES ? [] : name, error.number)
  }

  private func readEntries(
    _ descriptor: Int32, in folder: NameRules.Folder?, leftOut: Set<[UInt8]>, into listing: inout Listing,
    files: inout [[UInt8]]
  ) {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
      while true {
        let count = watchshim_read_directory(descriptor, buffer.baseAddress, buffer.count)
        if count <= 0 {
          // A directory that was removed while open reads as ENOENT. It is empty.
          if count < 0, count != Int(-ENOENT) { listing.failure = ([], Int32(-count)) }
          return
        }
        keepAlive()
        // struct linux_dirent64: u64 inode, i64 offset, u16 record length, u8 type, name with a NUL (getdents64(2)).
        var position = 0
        while position + 19 <= count {
          let inode = buffer.loadUnaligned(fromByteOffset: position, as: UInt64.self)
          let length = Int(buffer.loadUnaligned(fromByteOffset: position + 16, as: UInt16.self))
          var type = Int32(buffer[position + 18])
          let name = buffer[(position + 19)..<min(position + length, count)].prefix { $0 != 0 }
          position += max(length, 19)
          let isLeftOut = !leftOut.isEmpty && leftOut.contains(Array(name))
          // Looking at it could block on the share, so its type is assumed.
          if isLeftOut, type == Int32(DT_UNKNOWN) { type = Int32(DT_DIR) }
          let before = listing.directories.count
          note(name, inode: inode, type: type, descriptor, in: folder, into: &listing, files: &files)
          if isLeftOut, listing.directories.count > before {
            listing.leftOut.append(listing.directories.removeLast().name)
          }
        }
      }
    }
  }

  private func note(
    _ name: Slice<UnsafeMutableRawBufferPointer>, inode: UInt64, type: Int32, _ descriptor: Int32,
    in folder: NameRules.Folder?, into listing: inout Listing, files: inout [[UInt8]]
  ) {
    guard !name.isEmpty else { return }
    var type = type
    if type == Int32(DT_UNKNOWN) {
      keepAlive()
      switch FileLook.at(descriptor, Array(name)) {
      case .success(let look): type = look.isDirectory ? Int32(DT_DIR) : look.isRegularFile ? Int32(DT_REG) : type
      case .failure(let error): if !meansAbsent(error.number) { listing.failure = Self.failure(Array(name), error) }
      }
    }
    if type == Int32(DT_DIR) {
      let name = Array(name)
      guard rules.wantsDirectory(name) else { return }
      if rules.pattern(ignoring: name, isDirectory: true, in: folder) == nil {
        listing.directories.append((name, inode))
      } else {
        listing.ignored.append(name)
      }
    } else if rules.wantsFile(UnsafeRawBufferPointer(rebasing: name)) {
      guard type == Int32(DT_REG) else { return }
      let name = Array(name)
      if rules.pattern(ignoring: name, isDirectory: false, in: folder) == nil {
        files.append(name)
      } else {
        listing.ignored.append(name)
      }
    } else if name.first == UInt8(ascii: ".") || name.first == UInt8(ascii: "C") {
      let name = Array(name)
      if name == NameRules.cacheTag { listing.hasCacheTag = true }
      guard NameRules.isMarker(name) else { return }
      switch isValidMarker(name, descriptor) {
      case .success(let isValid): if isValid { listing.hasMarker = true }
      case .failure(let error): listing.unknownMarker = (name, error.number)
      }
    }
  }

  /// CACHEDIR.TAG counts only with its signature; other markers count by their presence. Fails if an error that may
  /// pass hides the signature.
  private func isValidMarker(_ name: [UInt8], _ directory: Int32) -> Result<Bool, SystemError> {
    guard name == NameRules.cacheTag else { return .success(true) }
    let descriptor = withCName(name) { openat(directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else {
      return mayPass(errno) ? .failure(SystemError(number: errno)) : .success(false)
    }
    defer { close(descriptor) }
    let signature = NameRules.cacheTagSignature
    var start = [UInt8](repeating: 0, count: signature.count)
    let count = read(descriptor, &start, start.count)
    if count < 0, mayPass(errno) { return .failure(SystemError(number: errno)) }
    return .success(count == signature.count && start == signature)
  }

  /// Reports what a listing found, and goes on with the directories below.
  func apply(_ listing: Listing, to index: NodeIndex, _ descriptor: Int32, _ request: ListingRequest) {
    let number = tree[index].number
    let isBelated = request.isBelated || !request.scanIDs.isEmpty
    report(.listingStarted(number: number, evidence: request.evidence))
    if listing.hasMarker { report(.ignored(directory: number, name: [])) }
    for name in listing.ignored { report(.ignored(directory: number, name: name)) }
    if listing.failure == nil, let names = unsettled.unentered.removeValue(forKey: index) {
      for name in names.subtracting(listing.directories.map(\.name)) {
        report(.fileGone(directory: number, name: name))
      }
    }
    for file in listing.files { report(.fileFound(directory: number, name: file.name, stat: file.stat)) }
    if let failure = listing.failure {
      report(.unreadable(directory: number, name: failure.name, errorNumber: failure.errorNumber))
      tree[index].flags.formUnion(failure.name.isEmpty ? [.incomplete, .unreachable] : .incomplete)
      tryAgain(
        index, after: SystemError(number: failure.errorNumber), recursive: request.isRecursive, belated: isBelated)
    } else {
      tree[index].flags.remove(.incomplete)
    }
    report(.listingEnded(number: number, complete: listing.failure == nil))
    polling.directories.noteListing(index, listing)
    if let times = listing.times { noteListedChange(index, at: times.modification) }

    if listing.unknownMarker != nil, !listing.hasMarker { return }
    if listing.hasMarker {
      tree[index].flags.insert(.contentsIgnored)
      for child in tree.children(index) { exclude(child) }
      return
    }
    tree[index].flags.remove(.contentsIgnored)
    for name in listing.leftOut { leaveOut(name, in: index) }
    if listing.failure == nil, tree[index].firstChild >= 0 {
      let seen = Set(listing.directories.map(\.name))
      let ignored = Set(listing.ignored)
      for child in tree.children(index) where !tree[child].flags.contains(.displaced) {
        let name = Array(tree.name(child))
        if ignored.contains(name) {
          // A directory above it was renamed, and a pattern now excludes it.
          exclude(child)
        } else if !seen.contains(name) {
          markMissing(child, evidence: request.evidence)
        }
      }
    }
    // The names can be listed, but not looked at. This is reported once, and not for each name.
    let isForbidden = listing.failure?.errorNumber == EACCES && listing.failure?.name.isEmpty == true
    let readyCount = walk.readyCount
    defer { walk.reverse(after: readyCount) }
    let refusals = walk.refusals[tree.reference(index)]
    defer {
      // Nothing was refused this time, so the next refusal is the first in a row.
      if refusals != nil, walk.refusals[tree.reference(index)] == refusals {
        walk.refusals[tree.reference(index)] = nil
      }
    }
    for directory in listing.directories {
      keepAlive()
      // A listing shows the inode of a mount point, and not that of the directory that is mounted there and was refused.
      if !request.isRecursive, refusals == nil, let child = tree.child(of: index, named: directory.name),
        tree[child].identity.inode == directory.inode, !tree[child].flags.contains(.missing)
      {
        // This listing made photod forget that the directory cannot be read.
        if tree[child].flags.contains(.incomplete), !isForbidden { reportIfUnreadable(child, descriptor) }
        continue
      }
      switch OpenDirectories.open(descriptor, directory.name) {
      case .success(let opened):
        adopt(
          opened, under: index, name: directory.name, evidence: request.evidence, scanIDs: request.scanIDs,
          recursive: request.isRecursive, belated: isBelated)
      case .failure(let error):
        if meansAbsent(error.number) || isForbidden { continue }
        cannotEnter(
          index, directory.name, error, evidence: request.evidence, recursive: request.isRecursive, belated: isBelated)
      }
    }
  }

  /// Reports a known directory if it cannot be read. If another directory is in its place, that one is adopted, or is
  /// reported if it can't be. `descriptor` is open on the parent.
  func reportIfUnreadable(_ child: NodeIndex, _ descriptor: Int32) {
    let error: SystemError?
    switch OpenDirectories.open(descriptor, tree.name(child)) {
    case .failure(let refused): error = meansAbsent(refused.number) ? nil : refused
    case .success(let opened):
      if case .success(let look) = FileLook.of(opened), look.identity != tree[child].identity {
        return adopt(
          opened, under: tree[child].parent, name: Array(tree.name(child)), evidence: .scan, recursive: false)
      }
      error = OpenDirectories.refusal(opened)
      close(opened)
    }
    if let error { cannotEnter(tree[child].parent, Array(tree.name(child)), error) }
  }

  /// Reports that the directory at this name cannot be opened or looked at, and has it retried if that may help.
  ///
  /// - Parameter evidence: how the directory was found.
  func cannotEnter(
    _ parent: NodeIndex, _ name: [UInt8], _ error: SystemError, evidence: Evidence = .event, moveCookie: UInt32 = 0,
    recursive: Bool = false, belated: Bool = false
  ) {
    if relinkUnseen(parent, name, moveCookie: moveCookie, error) { return }
    displaceIfForbidden(parent, name, error, evidence: evidence)
    if let child = tree.child(of: parent, named: name) {
      tree[child].flags.formUnion([.incomplete, .unreachable])
      tryAgain(child, after: error, recursive: recursive, belated: belated)
    } else {
      tryAgain(parent, after: error, belated: belated)
      unsettled.unentered[parent, default: []].insert(name)
    }
    report(.unreadable(directory: tree[parent].number, name: name, errorNumber: error.number))
    if error.number == EACCES, !awaitsPermission(parent, name) {
      retryLater(tree.child(of: parent, named: name) ?? parent, recursive: recursive, belated: belated)
    }
  }

  /// Takes the known directory out of its place if the one there, which is forbidden, is another. The right to look at a
  /// directory's identity is that of its parent.
  private func displaceIfForbidden(_ parent: NodeIndex, _ name: [UInt8], _ error: SystemError, evidence: Evidence) {
    guard error.number == EACCES, let child = tree.child(of: parent, named: name),
      case .success(let descriptor) = directories.descriptor(of: parent, in: tree, rootPath: rootPath),
      case .success(let look) = FileLook.at(descriptor, name), look.identity != tree[child].identity,
      // Another file system may be mounted over the known directory.
      look.identity.device == tree[child].identity.device
    else { return }
    displace(child, evidence: evidence)
  }
}

extension [UInt8] {
  /// Compares by bytes, as SQLite's BINARY collation does.
  fileprivate func precedes(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { mine in
      other.withUnsafeBytes { theirs in
        guard let first = mine.baseAddress, let second = theirs.baseAddress else { return mine.count < theirs.count }
        let order = memcmp(first, second, Swift.min(mine.count, theirs.count))
        return order != 0 ? order < 0 : mine.count < theirs.count
      }
    }
  }
}
