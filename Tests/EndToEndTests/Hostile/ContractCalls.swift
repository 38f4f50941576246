import Foundation
import Varlink

/// Calls of every method in photod's interfaces, with strange values for every member of the parameters.
///
/// The methods are read from photod itself, so that new methods and members of the contract are tried, too.
struct ContractCalls: Sendable {
  /// A place for a value in the parameters of a method.
  private struct Place: Sendable {
    let method: String
    let before: String
    let after: String
  }

  /// The qualified names of the methods.
  let methods: Set<String>
  private let places: [Place]

  /// Asks photod for its interfaces and their definitions.
  init(socket: String) throws {
    let connection = try RawSocket(socket, timeout: .seconds(30))
    let names: [String] = try Self.ask(connection, "GetInfo", "{}", "interfaces")
    let definitions = try names.map {
      try VarlinkInterfaceDefinition(
        parsing: Self.ask(connection, "GetInterfaceDescription", #"{"interface":"\#($0)"}"#, "description"))
    }
    var places: [Place] = []
    var methods: Set<String> = []
    for definition in definitions {
      for name in definition.methods {
        let method = definition.name + "." + name
        methods.insert(method)
        let shape = definition.parameterShapes[name] ?? .any
        places += Self.contexts(of: shape, definition.typeShapes).map {
          Place(method: method, before: $0.before, after: $0.after)
        }
      }
    }
    (self.methods, self.places) = (methods, places)
  }

  struct Failure: Error, CustomStringConvertible { let description: String }

  private static func ask<Value>(
    _ connection: RawSocket, _ method: String, _ parameters: String, _ member: String
  ) throws -> Value {
    guard connection.send(AdversaryMessages.call("org.varlink.service." + method, parameters)),
      let reply = connection.receive()
    else { throw Failure(description: "\(method) was not answered") }
    let members = try JSONSerialization.jsonObject(with: Data(reply)) as? [String: Any]
    guard let value = (members?["parameters"] as? [String: Any])?[member] as? Value else {
      throw Failure(description: "\(method) has no \(member): \(String(decoding: reply.prefix(300), as: UTF8.self))")
    }
    return value
  }

  /// The JSON text around the value itself, and around each of its members at any depth.
  private static func contexts(
    of shape: VarlinkShape, _ types: [String: VarlinkShape]
  ) -> [(before: String, after: String)] {
    var inner: [(before: String, after: String)] = []
    switch shape {
    case .any, .string: break
    case .named(let name): return contexts(of: types[name] ?? .any, types)
    case .object(let members):
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        inner += contexts(of: member, types).map { (#"{"\#(name)":"# + $0.before, $0.after + "}") }
      }
    case .array(let element, _): inner = contexts(of: element, types).map { ("[" + $0.before, $0.after + "]") }
    case .dictionary(let element): inner = contexts(of: element, types).map { (#"{"x":"# + $0.before, $0.after + "}") }
    }
    return [("", "")] + inner
  }

  /// The number of consecutive calls that put a value into every place once.
  var placeCount: Int { places.count }

  /// The number of calls that put each value into each place once.
  var count: Int { places.count * StrangeValues.all.count }

  /// The number selects the place, and then the value and the kind of the call. So consecutive calls have different
  /// places.
  func call(_ number: Int) -> (method: String, message: [UInt8], isAnswered: Bool) {
    let (index, round) = (number % places.count, number / places.count)
    let place = places[index]
    // Neighbouring places have different values.
    let value = StrangeValues.all[(round + index * 7) % StrangeValues.all.count]
    let kind = ["", "", #","more":true"#, #","oneway":true"#][round % 4]
    let message = AdversaryMessages.call(place.method, place.before + value + place.after, kind)
    return (place.method, message, round % 4 < 2)
  }
}

/// JSON values of wrong types, and values at and just beyond each bound of the contract.
enum StrangeValues {
  static let all: [String] = scalars + texts + lists + options

  private static let scalars = [
    "{}", "null", "true", "0", "-1", "0.5", "1e308", "-1e999", "9223372036854775807", "-9223372036854775808",
    "18446744073709551616", "[]", "[null]", #"{"a":{}}"#, #"{"no such member":1}"#, "5000", "5001",
    String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
    String(repeating: "[", count: 129) + String(repeating: "]", count: 129),
  ]

  /// Any path to which photod might write is in a missing folder.
  private static let texts =
    [
      "", #"\u0000"#, #"\ud800"#, "%00%ff/../..", "/", "file:///no/such/%ff", "id ==", "'", #"\"open"#,
      "filename MATCHES '(a+)+b'", "smart:nothing", "album:none", "id:9223372036854775807", "no such key",
    ].map(quoted)
    // Sizes around the bounds of client names, search texts and their words, paths, and predicates.
    + [64, 65, 1_000, 1_001, 5_000, 65_534, 65_535, 65_536].flatMap {
      [quoted(text($0)), quoted("/no/such/" + text($0 - 9))]
    }
    + [64, 65].map { quoted(Array(repeating: "a", count: $0).joined(separator: " ")) }
    + [200, 201].map { quoted(String(repeating: "(", count: $0) + "id == 1" + String(repeating: ")", count: $0)) }
    + [500, 501].map { quoted(Array(repeating: "id == 1", count: $0).joined(separator: " OR ")) }
    + [5_000, 5_001].map { quoted("id IN {\(numbers($0))}") }
    + [1_000, 1_001].map { quoted("filename LIKE '\(text($0))'") }

  private static let lists =
    ["[9223372036854775807,-1]", "[1,1,1]", #"["","x"]"#, #"["/",""]"#, "[{}]"]
    + [1_000, 1_001].flatMap { ["[\(numbers($0))]", repeated(quoted("/no/such/photo.jpg"), $0), repeated("{}", $0)] }
    + [1_000, 1_001].map { #"[{"editAsset":{"ids":[\#(numbers($0))],"isFavorite":true}}]"# }

  /// Values of `options`, or of a member with the same name.
  private static let options =
    [
      #"{"predicate":"id =="}"#, #"{"predicate":"'"}"#, #"{"text":"\"open"}"#, #"{"fetchLimit":-1}"#,
      #"{"collection":"\#(text(3_000))"}"#, #"{"colection":"smart:favorites"}"#,
      #"{"sortDescriptors":[{"key":"no such key","ascending":true}]}"#,
    ] + [64, 65].map { #"{"sortDescriptors":\#(repeated(#"{"key":"id","ascending":true}"#, $0))}"# }

  private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
  private static func quoted(_ text: String) -> String { "\"" + text + "\"" }
  private static func numbers(_ count: Int) -> String {
    (0..<count).map { String($0 + 1_000_000) }.joined(separator: ",")
  }
  private static func repeated(_ element: String, _ count: Int) -> String {
    "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
  }
}
