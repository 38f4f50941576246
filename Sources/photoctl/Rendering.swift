import ArgumentParser
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The forms in which a list is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, json, jsonl, csv, tsv, paths, paths0

  /// What suits where the output goes.
  static var standard: OutputFormat { Output.isTerminal ? .table : .jsonl }
}

/// JSON as on the wire, with the keys in a fixed order.
enum JSONText {
  static func line<T: Encodable>(_ value: T) throws -> [UInt8] {
    if let value = value as? any JSONWritable { return value.json }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    return Array(try encoder.encode(value))
  }

  static func indented<T: Encodable>(_ value: T) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys, .prettyPrinted]
    return Array(try encoder.encode(value)) + [newline]
  }
}

private let newline = UInt8(ascii: "\n")

/// What a list shows of an element beside its JSON.
protocol Listed: Encodable, Sendable {
  /// The columns of a table.
  static var columns: [Column] { get }
  /// As many as there are columns.
  var cells: [String] { get }
  /// All that `--fields` knows, in the order of the contract.
  static var fields: [Field<Self>] { get }
  /// What `--format paths` prints, as text of the wire.
  var listedPath: String? { get }
}

/// Prints a list page by page, in any format, holding one page at most.
struct ListRenderer<Element: Listed> {
  let format: OutputFormat
  /// What `--fields` asked for.
  private let fields: [Field<Element>]?
  private var table: TableLayout
  private var isFirst = true

  /// - Parameter columns: of the terminal, at which tables are cut; `nil` for none.
  init(format: OutputFormat, fields: [Field<Element>]? = nil, columns: Int? = nil) {
    self.format = format
    self.fields = fields
    let titles = fields?.map { Column(title: $0.name, isNumber: $0.isNumber, isPath: $0.name == "path") }
    table = TableLayout(columns: titles ?? Element.columns, terminalColumns: columns)
  }

  /// What is to be printed for these, after those before.
  mutating func page(_ elements: [Element]) throws -> [UInt8] {
    guard !elements.isEmpty else { return [] }
    defer { isFirst = false }
    switch format {
    case .table: return Array(table.text(rows: elements.map(cells)).utf8)
    case .jsonl:
      var bytes: [UInt8] = []
      for element in elements {
        bytes += try json(element)
        bytes.append(newline)
      }
      return bytes
    case .json:
      var bytes: [UInt8] = []
      for (index, element) in elements.enumerated() {
        bytes += Array((isFirst && index == 0 ? "[\n" : ",\n").utf8) + (try json(element))
      }
      return bytes
    case .csv: return rows(elements, Delimited.csv)
    case .tsv: return rows(elements, Delimited.tsv)
    case .paths: return paths(elements, endedBy: newline)
    case .paths0: return paths(elements, endedBy: 0)
    }
  }

  /// What closes the list. A table of values has its header also when there are none.
  func end() -> [UInt8] {
    switch format {
    case .json: Array((isFirst ? "[]\n" : "\n]\n").utf8)
    case .csv: isFirst ? Array(Delimited.csv.line(header).utf8) : []
    case .tsv: isFirst ? Array(Delimited.tsv.line(header).utf8) : []
    case .table, .jsonl, .paths, .paths0: []
    }
  }

  private var header: [String] { (fields ?? Element.fields).map(\.name) }

  private func cells(_ element: Element) -> [String] {
    let cells = fields?.map { $0.value(element).text.flatMap { $0.isEmpty ? nil : $0 } ?? "-" } ?? element.cells
    return cells.map(Printable.text)
  }

  private func json(_ element: Element) throws -> [UInt8] {
    guard let fields else { return try JSONText.line(element) }
    let members = fields.map { "\(FieldValue.quoted($0.name)):\($0.value(element).json)" }
    return Array("{\(members.joined(separator: ","))}".utf8)
  }

  private func rows(_ elements: [Element], _ form: Delimited) -> [UInt8] {
    let fields = fields ?? Element.fields
    var text = isFirst ? form.line(header) : ""
    for element in elements { text += form.line(fields.map { $0.value(element).text ?? "" }) }
    return Array(text.utf8)
  }

  private func paths(_ elements: [Element], endedBy end: UInt8) -> [UInt8] {
    elements.flatMap { element in element.listedPath.map { FilePath.bytes($0) + [end] } ?? [] }
  }
}

/// Rows of values for spreadsheets and for `cut`.
enum Delimited {
  /// RFC 4180: lines end with CR LF; a value with a comma, a quote or the end of a line in it is in quotes.
  case csv
  /// Lines end with LF; a tab, an end of a line and a backslash in a value are `\t`, `\n`, `\r` and `\\`.
  case tsv

  func line(_ values: [String]) -> String {
    switch self {
    // An empty line is no row to those who read it, so that a row of one empty value has its quotes.
    case .csv: (values == [""] ? "\"\"" : values.map(Self.quoted).joined(separator: ",")) + "\r\n"
    case .tsv: values.map(Self.escaped).joined(separator: "\t") + "\n"
    }
  }

  private static func quoted(_ value: String) -> String {
    guard value.utf8.contains(where: { "\",\r\n".utf8.contains($0) }) else { return value }
    return "\"" + value.replacingScalars { $0 == "\"" ? "\"\"" : nil } + "\""
  }

  private static func escaped(_ value: String) -> String {
    value.replacingScalars { scalar in
      switch scalar {
      case "\t": "\\t"
      case "\r": "\\r"
      case "\n": "\\n"
      case "\\": "\\\\"
      default: nil
      }
    }
  }
}

extension String {
  /// With other text for the scalars for which there is one. (Characters won't do: a quote and an accent are one.)
  func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let text = replacement(scalar) {
        result.append(contentsOf: text.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}
