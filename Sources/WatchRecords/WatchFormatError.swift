// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// Bytes that violate this format: the problem and its position.
public struct WatchFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem as a clause: "tag 77 is no record".
  public var what: String
  /// The position in bytes, from the beginning of the frame's payload. For the greeting and a frame's length, it counts
  /// from the beginning of the connection.
  public var offset: Int

  public init(what: String, offset: Int) {
    self.what = what
    self.offset = offset
  }

  public var description: String { "\(what), at byte \(offset)" }
}
