import NIOCore

// FoundationEssentials alone, where there is one: its JSON coders without the rest of Foundation start a process 2 ms
// sooner (3.7 against 5.7 ms, dynamically linked).
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values to JSON and back, with one setting for both sides.
enum JSONCoding {
  /// - Throws: `EncodingError`, also for a value that is no JSON object at its top.
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
    // Not copied (a call may have 16 MiB): the decoder keeps nothing of it once it returned.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    return try JSONDecoder().decode(type, from: data)
  }

  /// Decodes the part of a message at `range`, counted from its reader index; nil stands for `{}`.
  static func decode<T: Decodable>(_ type: T.Type, from message: ByteBuffer, at range: Range<Int>?) throws -> T {
    guard let range else {
      return try Array("{}".utf8).withUnsafeBytes { try decode(type, from: $0) }
    }
    return try message.withUnsafeReadableBytes { try decode(type, from: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }
}

/// A value that reads its own JSON: for replies so large that the general decoder would be what takes the time.
public protocol VarlinkDecodable: Decodable {
  /// Reads the value; nil where the general decoder is to do it, which also says what is wrong with the text.
  ///
  /// - Parameter json: a JSON object in UTF-8, found to be well formed; valid during the call.
  init?(json: UnsafeBufferPointer<UInt8>)
}

/// No parameters, in or out.
public struct VarlinkEmpty: Codable, Sendable, Hashable {
  public init() {}
}

/// A parameters object that is encoded already: made once, sent to as many peers as want it. Copies share the bytes.
public struct VarlinkEncoded: Sendable, Hashable {
  let buffer: ByteBuffer

  /// Encodes a value.
  ///
  /// - Throws: `EncodingError` when it has no form in JSON, or none that is an object.
  public init<P: Encodable>(encoding parameters: P) throws {
    buffer = ByteBuffer(bytes: try JSONCoding.encodeObject(parameters))
  }

  /// Takes over bytes that someone else encoded.
  ///
  /// - Precondition: they are one JSON object in UTF-8, without a NUL byte. Only the braces are looked at.
  public init(_ bytes: [UInt8]) {
    precondition(
      bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}"), "parameters have to be a JSON object")
    buffer = ByteBuffer(bytes: bytes)
  }

  /// The size of the JSON text.
  public var byteCount: Int { buffer.readableBytes }
}
