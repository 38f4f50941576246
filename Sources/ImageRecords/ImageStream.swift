// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import WatchRecords

/// The bytes on the socket pair between photod and a decoder.
///
/// Each side begins with the greeting. Frames follow, as in `WatchStream`: a u32 length (little-endian) and that many
/// bytes. A frame from photod is one ``PictureRequest``, and a frame to photod is one ``ImageReply``. photod sends the
/// next request after the last reply to the one before.
package enum ImageStream {
  /// The version of the format. All programs are installed together, so versions are not negotiated.
  package static let version: UInt8 = 3
  /// The first bytes of each side: seven letters and the version.
  package static let greeting: [UInt8] = Array("photodi".utf8) + [version]
  /// The longest payload of a frame.
  package static let maximumFrameBytes = 2 << 20

  /// Assembles the frames of either side.
  package static func assembler() -> FrameAssembler {
    FrameAssembler(greeting: greeting, maximumFrameBytes: maximumFrameBytes)
  }

  /// Appends the frame of a request.
  package static func append(_ request: PictureRequest, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(integer: UInt32(0))
    request.encode(into: &bytes)
    WatchStream.sealFrame(&bytes, from: start)
  }

  /// Appends the frame of a reply.
  package static func append(_ reply: ImageReply, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(integer: UInt32(0))
    reply.encode(into: &bytes)
    WatchStream.sealFrame(&bytes, from: start)
  }
}
