import PhotoModel

/// A value that reads itself from its Codable form, or leaves that to the general decoder. A test proves that both read
/// the same.
package protocol JSONReadable {
  init(from reader: inout JSONReader) throws(JSONReader.Unexpected)
}

extension JSONReader {
  package mutating func value<Value: JSONReadable>() throws(Unexpected) -> Value { try Value(from: &self) }

  /// Reads a value; nil for `null`.
  package mutating func optional<Value: JSONReadable>() throws(Unexpected) -> Value? {
    takeNull() ? nil : try Value(from: &self)
  }

  /// Returns the value of a required member, or throws if the member is missing.
  package static func required<Value>(_ value: Value?) throws(Unexpected) -> Value {
    guard let value else { throw Unexpected() }
    return value
  }
}

extension Bool: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) { self = try reader.bool() }
}

extension Int: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    guard let value = Int(exactly: try reader.int64()) else { throw JSONReader.Unexpected() }
    self = value
  }
}

extension Int64: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) { self = try reader.int64() }
}

extension AssetID: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    self.init(rawValue: try reader.int64())
  }
}

extension Double: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) { self = try reader.double() }
}

extension String: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) { self = try reader.string() }
}

extension PhotoDate: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    self = try JSONReader.required(PhotoDate(try reader.string()))
  }
}

extension Array: JSONReadable where Element: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    self = []
    try reader.array { reader throws(JSONReader.Unexpected) in append(try Element(from: &reader)) }
  }
}
