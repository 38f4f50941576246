// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Open descriptors of the directories that were used last. A descriptor stays with its directory when that is renamed,
/// so it never leads to another directory. But a drive with an open descriptor can't be unmounted, so all of them are
/// closed before photod-watch sleeps.
struct OpenDirectories {
  private static let capacity = 8
  private var entries: [(node: NodeReference, descriptor: Int32)] = []

  /// A descriptor of exactly the directory that the node stands for. The cache owns it, so the caller must not close
  /// it. It fails with ESTALE if the path in the tree leads to another directory at the moment. In that case, events
  /// that correct the tree are still queued.
  mutating func descriptor(
    of index: NodeIndex, in tree: WatchedTree, rootPath: (UInt16) -> [UInt8]?
  ) -> Result<Int32, SystemError> {
    let reference = tree.reference(index)
    if let position = entries.firstIndex(where: { $0.node == reference }) {
      let entry = entries[position]
      if position > 0 {
        entries.remove(at: position)
        entries.insert(entry, at: 0)
      }
      return .success(entry.descriptor)
    }
    let descriptor: Int32
    switch Self.open(index, in: tree, rootPath: rootPath) {
    case .failure(let error): return .failure(error)
    case .success(let opened): descriptor = opened
    }
    if entries.count == Self.capacity, let last = entries.popLast() { close(last.descriptor) }
    entries.insert((reference, descriptor), at: 0)
    return .success(descriptor)
  }

  mutating func closeAll() {
    for entry in entries { close(entry.descriptor) }
    entries.removeAll(keepingCapacity: true)
  }

  /// Like `descriptor(of:)`, but the caller must close it.
  static func open(
    _ index: NodeIndex, in tree: WatchedTree, rootPath: (UInt16) -> [UInt8]?
  ) -> Result<Int32, SystemError> {
    guard let path = rootPath(tree.root(index)) else { return .failure(SystemError(number: ESTALE)) }
    return openPath(path, components: tree.components(index)).flatMap { descriptor in
      switch FileLook.of(descriptor) {
      case .success(let look) where look.identity == tree[index].identity: return .success(descriptor)
      case .success:
        close(descriptor)
        return .failure(SystemError(number: ESTALE))
      case .failure(let error):
        close(descriptor)
        return .failure(error)
      }
    }
  }

  /// The identity and the times of exactly the directory that the node stands for. One system call reads them if the
  /// path is short enough. It fails like `descriptor(of:)`.
  static func glance(
    _ index: NodeIndex, in tree: WatchedTree, rootPath: (UInt16) -> [UInt8]?
  ) -> Result<FileLook, SystemError> {
    guard var path = rootPath(tree.root(index)) else { return .failure(SystemError(number: ESTALE)) }
    for component in tree.components(index) {
      path.append(UInt8(ascii: "/"))
      path.append(contentsOf: component)
    }
    guard path.count < PATH_MAX else {
      return open(index, in: tree, rootPath: rootPath).flatMap { descriptor in
        defer { close(descriptor) }
        return FileLook.of(descriptor)
      }
    }
    return FileLook.at(AT_FDCWD, path).flatMap { look in
      look.identity == tree[index].identity ? .success(look) : .failure(SystemError(number: ESTALE))
    }
  }

  /// Opens the directory, in pieces if the path is longer than PATH_MAX.
  static func openPath(_ root: [UInt8], components: [ArraySlice<UInt8>] = []) -> Result<Int32, SystemError> {
    var base = AT_FDCWD
    var piece = root
    for component in components {
      if piece.count + component.count + 2 > PATH_MAX {
        let opened = open(base, piece)
        if base != AT_FDCWD { close(base) }
        guard case .success(let descriptor) = opened else { return opened }
        base = descriptor
        piece = []
      }
      if !piece.isEmpty { piece.append(UInt8(ascii: "/")) }
      piece.append(contentsOf: component)
    }
    let opened = open(base, piece)
    if base != AT_FDCWD { close(base) }
    return opened
  }

  /// Calls `body` with a directory and a name in it that together lead to an absolute path: AT_FDCWD and the path itself,
  /// unless it is longer than PATH_MAX.
  static func reach<Value>(
    _ path: [UInt8], _ body: (Int32, [UInt8]) -> Result<Value, SystemError>
  ) -> Result<Value, SystemError> {
    let names = path.split(separator: UInt8(ascii: "/"))
    guard path.count >= PATH_MAX, let name = names.last else { return body(AT_FDCWD, path) }
    return openPath([UInt8(ascii: "/")], components: Array(names.dropLast())).flatMap { directory in
      defer { close(directory) }
      return body(directory, Array(name))
    }
  }

  /// The error if names in an open directory cannot be looked at. Its permissions may only let them be listed.
  static func refusal(_ descriptor: Int32) -> SystemError? {
    switch FileLook.at(descriptor, [UInt8(ascii: ".")]) {
    case .success: nil
    case .failure(let error): meansAbsent(error.number) ? nil : error
    }
  }

  /// Opens one directory. A symbolic link as the last component is refused.
  static func open(_ directory: Int32, _ name: some Collection<UInt8>) -> Result<Int32, SystemError> {
    let descriptor = withCName(name) { openat(directory, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    return descriptor < 0 ? .failure(SystemError(number: errno)) : .success(descriptor)
  }
}
