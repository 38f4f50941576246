import NIOCore

/// A received call. Its own fields are decoded, but not its parameters, because their type depends on the method.
struct CallEnvelope {
  let method: String
  /// The range of the parameters object in the message; nil if it was left out or null.
  let parameters: Range<Int>?
  let more: Bool
  let oneway: Bool
  let upgrade: Bool

  /// The reasons why a message is not a call.
  enum Failure: Error, Equatable {
    case syntax(JSONSyntaxError)
    /// A field of the message is missing or has the wrong type. If `oneway` is true, no reply may be sent.
    case field(String, oneway: Bool)
  }

  static func reading(_ message: ByteBuffer) -> Result<CallEnvelope, Failure> {
    Result { () throws(Failure) in try CallEnvelope(message) }
  }

  init(_ message: ByteBuffer) throws(Failure) {
    let members: [String: JSONScanner.Member]
    do {
      members = try JSONScanner.members(
        ["method", "parameters", "more", "oneway", "upgrade"], of: message.readableBytesUInt8Span)
    } catch { throw .syntax(error) }

    oneway = try Self.flag("oneway", members, oneway: false)
    more = try Self.flag("more", members, oneway: oneway)
    upgrade = try Self.flag("upgrade", members, oneway: oneway)
    guard let method = members["method"], let name = message.string(of: method), !name.isEmpty else {
      throw .field("method", oneway: oneway)
    }
    self.method = name
    switch members["parameters"] {
    case nil: parameters = nil
    case let member? where member.kind == .null: parameters = nil
    case let member? where member.kind == .object: parameters = member.range
    default: throw .field("parameters", oneway: oneway)
    }
  }

  private static func flag(
    _ name: String, _ members: [String: JSONScanner.Member], oneway: Bool
  ) throws(Failure) -> Bool {
    switch members[name]?.kind {
    case nil, .null: return false
    case .bool(let value): return value
    default: throw .field(name, oneway: oneway)
    }
  }

  /// The bytes of a call, including the NUL.
  static func encode(method: String, parameters: ByteBuffer, more: Bool = false, oneway: Bool = false) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(parameters.readableBytes + method.utf8.count + 64)
    buffer.writeString("{\"method\":")
    buffer.writeJSONString(method)
    if more { buffer.writeString(",\"more\":true") }
    if oneway { buffer.writeString(",\"oneway\":true") }
    buffer.writeString(",\"parameters\":")
    buffer.writeImmutableBuffer(parameters)
    buffer.writeString("}\0")
    return buffer
  }
}

/// A received reply.
struct ReplyEnvelope {
  let message: ByteBuffer
  let parameters: Range<Int>?
  let continues: Bool

  /// - Throws: `VarlinkError` if the reply is an error; `VarlinkClientError.malformedReply` if the message is not a
  ///   reply.
  init(_ message: ByteBuffer) throws {
    self.message = message
    let members: [String: JSONScanner.Member]
    do {
      members = try JSONScanner.members(["parameters", "continues", "error"], of: message.readableBytesUInt8Span)
    } catch {
      throw VarlinkClientError.malformedReply("\(error.reason) at byte \(error.offset)")
    }
    switch members["parameters"] {
    case nil: parameters = nil
    case let member? where member.kind == .null: parameters = nil
    case let member? where member.kind == .object: parameters = member.range
    default: throw VarlinkClientError.malformedReply("parameters is no object")
    }
    switch members["continues"]?.kind {
    case nil, .null: continues = false
    case .bool(let value): continues = value
    default: throw VarlinkClientError.malformedReply("continues is no bool")
    }
    if let member = members["error"], member.kind != .null {
      guard let name = message.string(of: member) else {
        throw VarlinkClientError.malformedReply("error is no string")
      }
      throw VarlinkError(name, encodedParameters: parameterBytes)
    }
  }

  /// The bytes of the parameters object; an empty object if there is none.
  var parameterBytes: [UInt8] {
    guard let parameters else { return Array("{}".utf8) }
    return message.getBytes(at: message.readerIndex + parameters.lowerBound, length: parameters.count) ?? []
  }

  func decode<R: Decodable>(_ type: R.Type) throws -> R {
    do {
      return try JSONCoding.decode(type, from: message, at: parameters)
    } catch let error as DecodingError {
      throw VarlinkClientError.malformedReply("\(error)")
    }
  }

  /// The parts of a reply, including the NUL, in the order in which they are written. Large parameters are not copied,
  /// so that a value that is sent on many connections is in memory only once.
  static func encode(parameters: ByteBuffer, continues: Bool) -> [ByteBuffer] {
    if parameters.readableBytes > 16 << 10 { return [start, parameters, continues ? continuingEnd : end] }
    var buffer = ByteBuffer()
    buffer.reserveCapacity(parameters.readableBytes + 40)
    buffer.writeImmutableBuffer(start)
    buffer.writeImmutableBuffer(parameters)
    buffer.writeImmutableBuffer(continues ? continuingEnd : end)
    return [buffer]
  }

  static func encode(error: VarlinkError) -> [ByteBuffer] {
    var buffer = ByteBuffer()
    buffer.writeString("{\"error\":")
    buffer.writeJSONString(error.name)
    buffer.writeString(",\"parameters\":")
    buffer.writeBytes(error.parameters)
    buffer.writeString("}\0")
    return [buffer]
  }

  private static let start = ByteBuffer(string: "{\"parameters\":")
  private static let end = ByteBuffer(string: "}\0")
  private static let continuingEnd = ByteBuffer(string: ",\"continues\":true}\0")
}

extension ByteBuffer {
  /// The string value of a member. It is nil for a value of another type, and for an escape that is not valid text,
  /// such as half of a surrogate pair.
  fileprivate func string(of member: JSONScanner.Member) -> String? {
    guard member.kind == .string else { return nil }
    if member.hasEscapes {
      do {
        return try JSONCoding.decode(String.self, from: self, at: member.range)
      } catch { return nil }
    }
    return getString(at: readerIndex + member.range.lowerBound + 1, length: member.range.count - 2)
  }

  /// Writes a quoted string. Names of methods and errors are plain ASCII, but any other text also becomes valid JSON.
  fileprivate mutating func writeJSONString(_ string: String) {
    writeInteger(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        writeInteger(UInt8(ascii: "\\"))
        writeInteger(byte)
      case 0..<0x20:
        writeString(byte < 0x10 ? "\\u000" : "\\u00")
        writeString(String(byte, radix: 16))
      default:
        writeInteger(byte)
      }
    }
    writeInteger(UInt8(ascii: "\""))
  }
}
