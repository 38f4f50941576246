// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Answers photod's requests about the files of one share, one after another. A request may wait for the share as long
/// as it takes. This process serves nothing else, and photod replaces it if it does not answer.
struct FileServer {
  let socket: Int32
  private var calls = FrameAssembler()
  /// The folder that is being listed, and the number of its names that were answered.
  private var listing: (path: [UInt8], directory: OpaquePointer, position: UInt64)?

  init(socket: Int32) { self.socket = socket }

  /// Works until photod closes its end of the socket.
  /// - Returns: the exit status.
  mutating func run() -> Int32 {
    guard send(WatchStream.greeting) else { return 0 }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return 0 }
      calls.append(buffer[..<count])
      do throws(WatchFormatError) {
        while let payload = try calls.next() {
          let answer = answer(try FileCall(payload))
          guard send(WatchStream.frame(answer)) else { return 0 }
        }
      } catch {
        complain("a call of photod is invalid: \(error)")
        return 1
      }
    }
  }

  private mutating func answer(_ call: FileCall) -> FileAnswer {
    switch call {
    case .look(let path):
      switch OpenDirectories.reach(path, { FileLook.at($0, $1) }) {
      case .success(let look): FileAnswer(errorNumber: 0, mode: look.mode, stat: look.stat)
      case .failure(let error): FileAnswer(errorNumber: error.number)
      }
    case .read(let path, let offset, let count): Self.read(path, offset, Int(count))
    case .list(let path, let position): list(path, from: position)
    }
  }

  /// How long names are read for one answer. photod waits for each answer.
  private static let listingTime = Interval.milliseconds(500)

  private mutating func list(_ path: [UInt8], from position: UInt64) -> FileAnswer {
    if position == 0 {
      endListing()
      switch OpenDirectories.reach(path, Self.openDirectory) {
      case .failure(let error): return FileAnswer(errorNumber: error.number)
      case .success(let directory): listing = (path, directory, 0)
      }
    }
    // Another process may have begun the listing.
    guard let (listed, directory, answered) = listing, listed == path, answered == position else {
      return FileAnswer(errorNumber: ESTALE)
    }
    var (bytes, count): ([UInt8], UInt64) = ([], 0)
    let end = Moment.now + Self.listingTime
    while bytes.count < FileAnswer.maximumBytes - 512, bytes.isEmpty || Moment.now < end {
      // At the end of the directory readdir(3) leaves errno alone.
      errno = 0
      guard let entry = readdir(directory) else {
        let code = errno
        if code != 0 || bytes.isEmpty { endListing() }
        if code != 0 { return FileAnswer(errorNumber: code) }
        break
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name == [UInt8(ascii: ".")] || name == Array("..".utf8) { continue }
      FolderEntry(name: name, type: entry.pointee.d_type).encode(into: &bytes)
      count += 1
    }
    listing?.position += count
    return FileAnswer(errorNumber: 0, mode: UInt32(S_IFDIR), bytes: bytes)
  }

  private mutating func endListing() {
    if let listing { closedir(listing.directory) }
    listing = nil
  }

  private static func read(_ path: [UInt8], _ offset: UInt64, _ count: Int) -> FileAnswer {
    let descriptor: Int32
    switch OpenDirectories.reach(path, openFile) {
    case .failure(let error): return FileAnswer(errorNumber: error.number)
    case .success(let opened): descriptor = opened
    }
    defer { close(descriptor) }
    switch FileLook.of(descriptor) {
    case .failure(let error): return FileAnswer(errorNumber: error.number)
    case .success(let look) where !look.isRegularFile:
      return FileAnswer(errorNumber: 0, mode: look.mode, stat: look.stat)
    case .success(let look):
      var bytes = [UInt8](repeating: 0, count: min(count, FileAnswer.maximumBytes))
      var done = 0
      while done < bytes.count, let position = off_t(exactly: offset + UInt64(done)) {
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + done, $0.count - done, position) }
        if got < 0, errno == EINTR { continue }
        if got < 0 { return FileAnswer(errorNumber: errno, mode: look.mode, stat: look.stat) }
        if got == 0 { break }
        done += got
      }
      bytes.removeLast(bytes.count - done)
      // If the file was written meanwhile, the bytes may be of two states.
      guard case .success(let after) = FileLook.of(descriptor), after.stat == look.stat else {
        return FileAnswer(errorNumber: ESTALE)
      }
      return FileAnswer(errorNumber: 0, mode: look.mode, stat: look.stat, bytes: bytes)
    }
  }

  private static func openFile(_ directory: Int32, _ name: [UInt8]) -> Result<Int32, SystemError> {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = withCName(name) { openat(directory, $0, flags) }
    return descriptor < 0 ? .failure(SystemError(number: errno)) : .success(descriptor)
  }

  private static func openDirectory(_ parent: Int32, _ name: [UInt8]) -> Result<OpaquePointer, SystemError> {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = withCName(name) { openat(parent, $0, flags) }
    guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
    guard let directory = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      return .failure(SystemError(number: code))
    }
    return .success(directory)
  }

  /// - Returns: false if photod has closed its end.
  private func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      done += count
    }
    return true
  }
}
