import WatchRecords

/// A message from photod to photod-extract.
package enum ExtractRequest: Hashable, Sendable {
  /// Asks for the facts of a file. If `isFetched` is false, a descriptor of the file comes with the bytes of the
  /// request. Otherwise photod-extract asks for the bytes of the file with ``ExtractReply/needs(offset:count:)``.
  ///
  /// - name: the name of the file, without its folder.
  /// - byteCount: the size of the file by fstat(2).
  case file(name: [UInt8], byteCount: UInt64, isFetched: Bool)
  /// The bytes that photod-extract asked for, or fewer if the file ends before. If they could not be read, the error
  /// number is not 0.
  case bytes([UInt8], errorNumber: Int32)

  /// The most bytes that one request carries.
  package static let maximumBytes = 1 << 17

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .file(let name, let byteCount, let isFetched):
      bytes.append(1)
      bytes.append(name: name)
      bytes.append(integer: byteCount)
      bytes.append(boolean: isFetched)
    case .bytes(let content, let errorNumber):
      bytes.append(2)
      bytes.append(integer: errorNumber)
      bytes.append(integer: UInt32(content.count))
      bytes.append(contentsOf: content)
    }
  }

  package init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    let tag: UInt8 = try reader.integer("a request's tag")
    switch tag {
    case 1:
      self = .file(
        name: try reader.name("a name"), byteCount: try reader.integer("a size"),
        isFetched: try reader.boolean("whether a file is fetched"))
    case 2:
      let errorNumber: Int32 = try reader.integer("an errno")
      let count: UInt32 = try reader.integer("a number of bytes")
      self = .bytes(try reader.bytes(Int(count), "a file's bytes"), errorNumber: errorNumber)
    default: throw WatchFormatError(what: "tag \(tag) is no request", offset: 0)
    }
  }
}
