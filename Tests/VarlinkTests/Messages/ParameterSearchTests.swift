import Testing

@testable import Varlink

/// Unknown members, and members beyond their bounds, are found before parameters are decoded.
struct ParameterSearchTests {
  private static let definition = """
    interface org.example.bounds
    type Item (name: string, tags: ?[]string, parent: ?Item)
    method Put(items: []Item, numbers: ?[]int, note: ?string, any: ?[string]Item) -> ()
    """
  private static let bounds: [String: VarlinkBound] = [
    "Item.name": VarlinkBound(bytes: 4), "Item.tags": VarlinkBound(count: 2, bytes: 3),
    "Put.items": VarlinkBound(count: 2), "Put.numbers": VarlinkBound(count: 3), "Put.note": VarlinkBound(bytes: 0),
  ]

  @Test(arguments: [
    (#"{}"#, nil), (#"{"items":[]}"#, nil), (#"{"items":null,"numbers":null,"note":null}"#, nil),
    (#"{"items":[{"name":"abcd","tags":["abc","def"]},{}],"numbers":[1,2,3],"note":""}"#, nil),
    (#"{"items":[{},{},{}]}"#, "items"), (#"{"numbers":[1,[2],{"a":3},4]}"#, "numbers"), (#"{"note":"a"}"#, "note"),
    (#"{"items":[{},{"name":"abcde"}]}"#, "items[1].name"), (#"{"items":[{"tags":["a","b","c"]}]}"#, "items[0].tags"),
    (#"{"items":[{"tags":["a","abcd"]}]}"#, "items[0].tags[1]"),
    (#"{"items":[{"parent":{"parent":{"name":"abcde"}}}]}"#, "items[0].parent.parent.name"),
    (#"{"any":{"key":{"name":"abcde"}}}"#, "any.key.name"), (#"{"any":{"key":{"x":1}}}"#, "any.key.x"),
    (#" { "items" : [ { "name" : "abcd" } , { "nam" : 1 } ] } "#, "items[1].nam"),
    // A value of another type is left to decoding.
    (#"{"note":[1,2,3],"numbers":"long","items":{"name":"abcde"}}"#, nil),
  ])
  func errorNamesTheFirstWrongParameter(_ text: String, _ expected: String?) throws {
    #expect(try fault(in: text) == expected)
  }

  /// Each has four bytes of UTF-8, and one more letter makes five.
  @Test(arguments: [
    #"abcd"#, #"\u0061bcd"#, #"\n\"\\\/"#, #"ää"#, #"\u00e4\u00E4"#, #"a€"#, #"\u0061\u20AC"#, #"😀"#, #"\ud83d\ude00"#,
    #"\uD83D\uDE00"#,
  ])
  func aStringIsMeasuredAsItsUTF8(_ text: String) throws {
    #expect(try fault(in: #"{"items":[{"name":"\#(text)"}]}"#) == nil)
    #expect(try fault(in: #"{"items":[{"name":"\#(text)x"}]}"#) == "items[0].name")
  }

  private func fault(in text: String) throws -> String? {
    let definition = try VarlinkInterfaceDefinition(parsing: Self.definition).bounded(by: Self.bounds)
    let shape = try #require(definition.parameterShapes["Put"])
    return Array(text.utf8).withUnsafeBufferPointer {
      ParameterSearch.firstFault(in: $0, shape: shape, types: definition.typeShapes)
    }
  }
}
