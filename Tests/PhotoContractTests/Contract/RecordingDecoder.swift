import TestTools

@testable import PhotoModel

/// Records what a type requests from its decoder: each member, whether it is required, and the same for nested types.
/// It returns only dummy values.
struct RecordingDecoder: Decoder {
  typealias Shape = ContractText.Shape

  /// The requests for one value.
  final class Node {
    fileprivate var shape: Shape?
    fileprivate var members: [String: Node] = [:]
    fileprivate var optionalMembers: Set<String> = []
    fileprivate var element: Node?
    fileprivate var isDictionary = false

    fileprivate var recorded: Shape {
      if let shape { return shape }
      if let element { return .array(element.recorded) }
      if isDictionary, let value = members.values.first { return .dictionary(value.recorded) }
      var shapes: [String: ContractText.Member] = [:]
      for (name, node) in members {
        shapes[name] = .init(shape: node.recorded, isOptional: optionalMembers.contains(name))
      }
      return .object(shapes)
    }

    fileprivate func read<T: Decodable>(_ type: T.Type) throws -> T {
      let value = try T(from: RecordingDecoder(node: self))
      // The words were read as a string.
      if let type = type as? any OpenEnum.Type { shape = .words(words(of: type)) }
      return value
    }
  }

  private let node: Node
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func shape<T: Decodable>(of type: T.Type) throws -> Shape {
    let node = Node()
    _ = try node.read(type)
    return node.recorded
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(node: node))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    let element = Node()
    node.element = element
    return Unkeyed(element: element)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(node: node) }
}

extension RecordingDecoder {
  /// A type of value that no message has, or that this decoder does not know.
  struct Unexpected: Error { let type: String }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: Node
    var codingPath: [any CodingKey] { [] }

    /// Only dictionaries ask for all keys.
    var allKeys: [Key] {
      node.isDictionary = true
      return Key(stringValue: "any").map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool { true }

    /// decodeIfPresent calls this before it decodes.
    func decodeNil(forKey key: Key) -> Bool {
      node.optionalMembers.insert(key.stringValue)
      return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      let member = Node()
      node.members[key.stringValue] = member
      return try member.read(type)
    }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { throw Unexpected(type: "a nested container") }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw Unexpected(type: "a nested container")
    }
    func superDecoder() throws -> any Decoder { throw Unexpected(type: "a class") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Unexpected(type: "a class") }
  }

  /// An array with one element.
  private struct Unkeyed: UnkeyedDecodingContainer {
    let element: Node
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    private(set) var currentIndex = 0
    var isAtEnd: Bool { currentIndex == 1 }

    init(element: Node) { self.element = element }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
      currentIndex += 1
      return try element.read(type)
    }
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      throw Unexpected(type: "a nested container")
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      throw Unexpected(type: "a nested container")
    }
    mutating func superDecoder() throws -> any Decoder { throw Unexpected(type: "a class") }
  }

  private struct Single: SingleValueDecodingContainer {
    let node: Node
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
      let (scalar, value): (String, Any) =
        switch type {
        case is Bool.Type: ("bool", false)
        case is Int.Type: ("int", 1)
        case is Int64.Type: ("int", Int64(1))
        case is Double.Type: ("float", 1.0)
        // This string is also a date, so that dates are read from it.
        case is String.Type: ("string", "2024-07-21T10:00:00Z")
        default: throw Unexpected(type: "\(type)")
        }
      node.shape = .scalar(scalar)
      guard let value = value as? T else { throw Unexpected(type: "\(type)") }
      return value
    }
  }
}

private func words<Words: OpenEnum>(of type: Words.Type) -> [String] { type.allCases.map(\.rawValue) }
