import ArgumentParser
import PhotoModel
import PredicateLanguage

/// One value of a listed element, with its name in `org.photod.library`.
struct Field<Element>: Sendable {
  let name: String
  let isNumber: Bool
  let value: @Sendable (Element) -> FieldValue

  init(_ name: String, isNumber: Bool = false, _ value: @escaping @Sendable (Element) -> FieldValue) {
    self.name = name
    self.isNumber = isNumber
    self.value = value
  }

  init(_ name: String, text: @escaping @Sendable (Element) -> String?) {
    self.init(name) { text($0).map(FieldValue.text) ?? .absent }
  }

  init(_ name: String, date: @escaping @Sendable (Element) -> PhotoDate?) {
    self.init(name) { date($0).map(FieldValue.date) ?? .absent }
  }

  init(_ name: String, instant: @escaping @Sendable (Element) -> PhotoDate?) {
    self.init(name) { instant($0).map(FieldValue.instant) ?? .absent }
  }

  init<I: BinaryInteger & SendableMetatype>(_ name: String, integer: @escaping @Sendable (Element) -> I?) {
    self.init(name, isNumber: true) { integer($0).map { .integer(Int64(clamping: $0)) } ?? .absent }
  }

  init(_ name: String, real: @escaping @Sendable (Element) -> Double?) {
    self.init(name, isNumber: true) { real($0).map(FieldValue.real) ?? .absent }
  }

  init(_ name: String, boolean: @escaping @Sendable (Element) -> Bool?) {
    self.init(name) { boolean($0).map(FieldValue.boolean) ?? .absent }
  }
}

enum FieldValue: Hashable, Sendable {
  case absent
  case text(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)
  /// A date of a photo, which a table shows as the clock at its place did.
  case date(PhotoDate)
  /// A date of photod or of the file system, which a table shows in local time.
  case instant(PhotoDate)
  case list([String])

  /// The value as a cell of a table; `nil` if it is absent.
  var cell: String? {
    switch self {
    case .real(let number): Text.real(number)
    case .date(let date): Text.minute(date)
    case .instant(let date): WatchText.minute(date)
    case .absent, .text, .integer, .boolean, .list: text
    }
  }

  /// The value as a cell of CSV or TSV, before quoting; `nil` if it is absent.
  var text: String? {
    switch self {
    case .absent: nil
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .boolean(let value): value ? "true" : "false"
    case .date(let date), .instant(let date): date.description
    case .list(let texts): texts.joined(separator: ";")
    }
  }

  /// The value as JSON (RFC 8259), which cannot express infinite numbers.
  var json: String {
    switch self {
    case .absent: "null"
    case .text(let text): Self.quoted(text)
    case .date(let date), .instant(let date): Self.quoted(date.description)
    case .real(let number) where !number.isFinite: "null"
    case .integer, .real, .boolean: text ?? "null"
    case .list(let texts): "[\(texts.map(Self.quoted).joined(separator: ","))]"
    }
  }

  static func quoted(_ text: String) -> String {
    let escaped = text.replacingScalars { scalar in
      switch scalar {
      case "\"", "\\": return "\\\(scalar)"
      case "\n": return "\\n"
      case "\t": return "\\t"
      case "\r": return "\\r"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
      default: return nil
      }
    }
    return "\"\(escaped)\""
  }
}

/// The option `--fields`, for lists of these elements.
struct FieldOptions<Element: Listed>: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only these fields, in this order, in the formats table, jsonl, json, csv and tsv.", valueName: "name,..."))
  var fields: String?

  init() {}

  /// The chosen fields; `nil` if the option is missing.
  var chosen: [Field<Element>]? {
    guard let fields else { return nil }
    let known = Dictionary(Element.fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return Self.names(fields).compactMap { known[$0] }
  }

  private static func names(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
  }

  func validate() throws {
    let known = Element.fields.map(\.name)
    for name in fields.map(Self.names) ?? [] where !known.contains(name) {
      let similar = Spelling.nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
      throw ValidationError(
        "--fields has '\(name)', which is no field.\(similar) The fields are \(known.joined(separator: ", ")).")
    }
  }

  /// - Throws: `ValidationError` if this format has no fields.
  func validate(with format: OutputFormat?) throws {
    if fields != nil, let format, [.paths, .paths0].contains(format) {
      throw ValidationError("--fields can't be used with --format \(format.rawValue), which prints only paths.")
    }
  }
}
