import Glibc

/// The journal's own socket: an entry is one datagram of fields (systemd.io, "Native Journal Protocol"), so that each can be
/// asked for by itself: `journalctl --user PHOTOD_MESSAGE=root-offline`.
package struct JournalSocket: Sendable {
  package static let path = "/run/systemd/journal/socket"

  private let path: String
  private let descriptor: Int32

  /// - Returns: Nil where no journal is to be had; a socket in the place of ``path`` is for tests.
  package init?(path: String = Self.path) {
    guard access(path, W_OK) == 0 else { return nil }
    // Not connected: a journal that is started again is met again. It lives as long as the process.
    descriptor = UnixSocketAddress.makeSocket(SOCK_DGRAM)
    guard descriptor >= 0 else { return nil }
    self.path = path
  }

  /// Waits, as every writer of the journal does, while its queue is full.
  ///
  /// - Returns: False if the journal did not take it: it is not there now, or the entry is larger than a datagram may be.
  package func send(_ fields: [(name: String, value: String)]) -> Bool {
    guard let address = UnixSocketAddress(path) else { return false }
    let bytes = Self.entry(fields)
    while true {
      let sent = address.withPointer { sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
      if sent < 0, errno == EINTR { continue }
      return sent == bytes.count
    }
  }

  /// `NAME=value` and a newline; for a value with a newline `NAME`, a newline, its length as 64 bits (little-endian), the
  /// value, a newline.
  private static func entry(_ fields: [(name: String, value: String)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in fields {
      let value = Array(value.utf8)
      bytes += name.utf8
      if value.contains(UInt8(ascii: "\n")) {
        bytes.append(UInt8(ascii: "\n"))
        withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes += $0 }
      } else {
        bytes.append(UInt8(ascii: "="))
      }
      bytes += value
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  /// What a field of the journal may be called: capitals, digits and underlines, at most 64 bytes.
  static func fieldName(_ key: String) -> String {
    let name = "PHOTOD_" + key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return String(name.prefix(64))
  }
}
