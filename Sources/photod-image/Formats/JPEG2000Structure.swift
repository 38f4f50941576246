// SPDX-License-Identifier: GPL-2.0-or-later

import EmbeddedPictures

/// The sampling of a JPEG 2000 file (ISO/IEC 15444-1, A.5.1).
struct JPEG2000Structure {
  /// Whether the first component has a value for each pixel. libvips leaves pixels unset otherwise.
  let isFullySampled: Bool

  /// - Returns: nil if the file has no codestream near its beginning.
  init?(_ view: ByteView) {
    // The codestream begins with the markers SOC and SIZ. Boxes may come before it.
    let limit = min(view.count, 64 << 10)
    let start = (0..<max(0, limit - 4)).first { view.uint32(at: $0) == 0xFF4F_FF51 }
    guard let start, let horizontal = view.byte(at: start + 43), let vertical = view.byte(at: start + 44) else {
      return nil
    }
    isFullySampled = horizontal == 1 && vertical == 1
  }
}
