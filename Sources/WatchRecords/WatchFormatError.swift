// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// Bytes that are not what this format says: what was read, and where.
public struct WatchFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, as a clause: "tag 77 is no record".
  public var what: String
  /// Bytes from the beginning of the frame's payload, or of the connection for the greeting and a frame's length.
  public var offset: Int

  public init(what: String, offset: Int) {
    self.what = what
    self.offset = offset
  }

  public var description: String { "\(what), at byte \(offset)" }
}
