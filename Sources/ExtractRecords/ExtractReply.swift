import WatchRecords

/// A message of photod-extract to photod. photod treats it as hostile, because a damaged file may have taken over the
/// process.
package enum ExtractReply: Hashable, Sendable {
  /// The facts of the file that was requested first and has no reply yet.
  case facts(MediaFacts)
  /// The reader needs bytes of a file that is fetched. ``ExtractRequest/bytes(_:errorNumber:)`` follows.
  case needs(offset: UInt64, count: UInt32)

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .facts(let facts):
      bytes.append(1)
      facts.encode(into: &bytes)
    case .needs(let offset, let count):
      bytes.append(2)
      bytes.append(integer: offset)
      bytes.append(integer: count)
    }
  }

  package init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    let tag: UInt8 = try reader.integer("a reply's tag")
    switch tag {
    case 1: self = .facts(try MediaFacts(from: &reader))
    case 2: self = .needs(offset: try reader.integer("an offset"), count: try reader.integer("a count"))
    default: throw WatchFormatError(what: "tag \(tag) is no reply", offset: 0)
    }
    guard reader.isAtEnd else { throw WatchFormatError(what: "bytes follow a reply", offset: reader.offset) }
  }
}
