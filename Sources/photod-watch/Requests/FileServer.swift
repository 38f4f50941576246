// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// Answers photod's requests about the files of one share, one after another. A request may wait for the share as long
/// as it takes. This process serves nothing else, and photod replaces it if it does not answer.
struct FileServer {
  let socket: Int32
  private var calls = FrameAssembler()

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
          guard send(WatchStream.frame(Self.answer(try FileCall(payload)))) else { return 0 }
        }
      } catch {
        complain("a call that can't be understood: \(error)")
        return 1
      }
    }
  }

  private static func answer(_ call: FileCall) -> FileAnswer {
    switch call {
    case .look(let path):
      switch FileLook.at(AT_FDCWD, path) {
      case .success(let look): FileAnswer(errorNumber: 0, mode: look.mode, stat: look.stat)
      case .failure(let error): FileAnswer(errorNumber: error.number)
      }
    case .read(let path, let offset, let count): read(path, offset, Int(count))
    }
  }

  private static func read(_ path: [UInt8], _ offset: UInt64, _ count: Int) -> FileAnswer {
    let descriptor = withCName(path) { open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else { return FileAnswer(errorNumber: errno) }
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
