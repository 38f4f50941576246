import NIOCore

// FoundationEssentials alone is used if it exists. With its JSON coders and without the rest of Foundation, a process
// starts 2 ms sooner (3.7 against 5.7 ms, dynamically linked).
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Converts values to JSON and back, with the same settings for both directions.
enum JSONCoding {
  /// - Throws: `EncodingError`, also for a value whose outermost JSON value is not an object.
  static func encodeObject<T: Encodable>(_ value: T) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let data = try encoder.encode(value)
    guard data.first == UInt8(ascii: "{") else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "Varlink parameters have to be a JSON object"))
    }
    return data
  }

  /// - Throws: `DecodingError`.
  static func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeRawBufferPointer) throws -> T {
    if let type = type as? any VarlinkDecodable.Type,
      let value = bytes.withMemoryRebound(to: UInt8.self, { type.init(json: $0) }) as? T
    {
      return value
    }
    guard let start = bytes.baseAddress else { return try JSONDecoder().decode(type, from: Data()) }
    // The bytes are not copied, because a call may have 16 MiB. The decoder keeps no reference to them after it
    // returns.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    return try JSONDecoder().decode(type, from: data)
  }

  /// Decodes the part of a message at `range`, which counts from the reader index. A nil range means `{}`.
  static func decode<T: Decodable>(_ type: T.Type, from message: ByteBuffer, at range: Range<Int>?) throws -> T {
    guard let range else {
      return try Array("{}".utf8).withUnsafeBytes { try decode(type, from: $0) }
    }
    return try message.withUnsafeReadableBytes { try decode(type, from: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }
}

/// A value that reads its own JSON. It is for replies that are so large that the general decoder would take most of the
/// time.
public protocol VarlinkDecodable: Decodable {
  /// Reads the value. If it returns nil, the general decoder reads it, which also reports errors in the text.
  ///
  /// - Parameter json: a well-formed JSON object in UTF-8; valid during the call.
  init?(json: UnsafeBufferPointer<UInt8>)
}

/// Empty parameters of a call or a reply.
public struct VarlinkEmpty: Codable, Sendable, Hashable {
  /// The empty object.
  public init() {}
}

/// A parameters object that is already encoded. It is made once and sent to any number of peers. Copies share the
/// bytes.
public struct VarlinkEncoded: Sendable, Hashable {
  let buffer: ByteBuffer

  /// Encodes a value.
  ///
  /// - Throws: `EncodingError` if JSON can't represent it, or not as an object.
  public init<P: Encodable>(encoding parameters: P) throws {
    buffer = ByteBuffer(bytes: try JSONCoding.encodeObject(parameters))
  }

  /// Takes over encoded bytes.
  ///
  /// - Precondition: they are one JSON object in UTF-8, without a NUL byte. Only the braces are checked.
  public init(_ bytes: [UInt8]) {
    precondition(
      bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}"), "parameters have to be a JSON object")
    buffer = ByteBuffer(bytes: bytes)
  }

  /// The size of the JSON text.
  public var byteCount: Int { buffer.readableBytes }
}
