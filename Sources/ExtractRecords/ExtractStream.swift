import WatchRecords

/// The bytes on the socket pair between photod and photod-extract.
///
/// Each side begins with the greeting. Frames follow, as in `WatchStream`: a u32 length (little-endian) and that many
/// bytes. A frame from photod is one ``ExtractRequest``, and a frame to photod is one ``ExtractReply``. photod-extract
/// answers the requests in their order.
package enum ExtractStream {
  /// The number changes with the format. Both programs are of one build, so there is no negotiation.
  package static let version: UInt8 = 1
  /// The first bytes of each side: seven letters and the version.
  package static let greeting: [UInt8] = Array("photodx".utf8) + [version]
  /// The longest payload of a frame. The facts of a file are at most 1.1 MB, most of it keywords.
  package static let maximumFrameBytes = 2 << 20
  /// The most requests that may wait for an answer. Each has a descriptor.
  package static let mostRequests = 64

  /// Assembles the frames of either side.
  package static func assembler() -> FrameAssembler {
    FrameAssembler(greeting: greeting, maximumFrameBytes: maximumFrameBytes)
  }

  /// Appends the frame of a request.
  package static func append(_ request: ExtractRequest, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(integer: UInt32(0))
    request.encode(into: &bytes)
    WatchStream.sealFrame(&bytes, from: start)
  }

  /// Appends the frame of a reply.
  package static func append(_ reply: ExtractReply, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(integer: UInt32(0))
    reply.encode(into: &bytes)
    WatchStream.sealFrame(&bytes, from: start)
  }
}
