// Messages made from an interface file.
extension ContractText {
  /// A JSON text of this shape in which every member is there, and each array has one element.
  ///
  /// - Parameter word: chooses one of the words of an enum, or another one.
  package func sample(of shape: Shape, word: ([String]) -> String) -> String {
    switch shape {
    case .scalar("bool"): return "true"
    case .scalar("int"): return "1"
    case .scalar("float"): return "1.5"
    // A date, which may stand for any other string too.
    case .scalar: return #""2024-07-21T10:00:00Z""#
    case .words(let words): return "\"\(word(words))\""
    case .named(let name): return sample(of: types[name] ?? .object([:]), word: word)
    case .array(let element): return "[\(sample(of: element, word: word))]"
    case .dictionary(let element): return #"{"key":\#(sample(of: element, word: word))}"#
    case .object(let members):
      let texts = members.sorted { $0.key < $1.key }
        .map { #""\#($0.key)":\#(sample(of: $0.value.shape, word: word))"# }
      return "{\(texts.joined(separator: ","))}"
    }
  }

  /// How many words of enums such a text has.
  package func wordCount(of shape: Shape) -> Int {
    switch shape {
    case .scalar: 0
    case .words: 1
    case .named(let name): wordCount(of: types[name] ?? .object([:]))
    case .array(let element), .dictionary(let element): wordCount(of: element)
    case .object(let members): members.values.reduce(0) { $0 + wordCount(of: $1.shape) }
    }
  }
}
