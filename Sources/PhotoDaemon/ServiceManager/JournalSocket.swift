import Glibc

/// The journal's native socket (systemd.io, "Native Journal Protocol"). An entry is one datagram of fields, so that
/// each field can select entries: `journalctl --user PHOTOD_MESSAGE=root-offline`.
package struct JournalSocket: Sendable {
  package static let path = "/run/systemd/journal/socket"

  private let path: String
  private let descriptor: Int32

  /// - Returns: Nil if there is no journal. Tests pass a socket of their own as ``path``.
  package init?(path: String = Self.path) {
    guard access(path, W_OK) == 0 else { return nil }
    // The socket is not connected, so that it reaches a journal that was started again. It lives as long as the
    // process.
    descriptor = UnixSocketAddress.makeSocket(SOCK_DGRAM)
    guard descriptor >= 0 else { return nil }
    self.path = path
  }

  /// Waits while the journal's queue is full, as every writer of the journal does.
  ///
  /// - Returns: False if the journal did not take the entry, because there is no journal now, or the entry is larger
  ///   than a datagram may be.
  package func send(_ fields: [(name: String, value: String)]) -> Bool {
    guard let address = UnixSocketAddress(path) else { return false }
    let bytes = Self.entry(fields)
    while true {
      let sent = address.withPointer { sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
      if sent < 0, errno == EINTR { continue }
      return sent == bytes.count
    }
  }

  /// Encodes a field as `NAME=value` and a newline. For a value with a newline, it is `NAME`, a newline, the length of
  /// the value as 64 bits (little-endian), the value, and a newline.
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

  /// Returns a valid name of a journal field: capitals, digits and underlines, at most 64 bytes.
  static func fieldName(_ key: String) -> String {
    let name = "PHOTOD_" + key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return String(name.prefix(64))
  }
}
