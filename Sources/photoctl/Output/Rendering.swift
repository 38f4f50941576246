import ArgumentParser
import PhotoContract
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The forms in which a list is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, json, jsonl, csv, tsv, paths, paths0

  /// The default for the kind of output: a table on a terminal, else JSON lines.
  static var standard: OutputFormat { Output.isTerminal ? .table : .jsonl }
}

/// JSON as in the contract, with the keys in a fixed order.
enum JSONText {
  static func line<T: Encodable>(_ value: T) throws -> [UInt8] {
    if let value = value as? any JSONWritable { return value.json }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    return Array(try encoder.encode(value))
  }

  /// The line of an object that has at least one member, with one more member: a text for each id, in the order of the
  /// ids.
  static func line<T: Encodable>(_ object: T, adding name: String, _ texts: [AssetID: String]) throws -> [UInt8] {
    let members = texts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(FieldValue.quoted($0.value))" }
    let added = ",\(FieldValue.quoted(name)):{\(members.joined(separator: ","))}}"
    return try line(object).dropLast() + Array(added.utf8)
  }

  static func indented<T: Encodable>(_ value: T) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys, .prettyPrinted]
    return Array(try encoder.encode(value)) + [newline]
  }
}

private let newline = UInt8(ascii: "\n")

/// The parts of an element that a list can show, besides its JSON.
protocol Listed: Encodable, Sendable {
  /// The columns of a table.
  static var columns: [Column] { get }
  /// As many cells as there are columns.
  var cells: [String] { get }
  /// All fields that `--fields` accepts, in the order of the contract.
  static var fields: [Field<Self>] { get }
  /// The path for `--format paths`, in the form of the contract.
  var listedPath: String? { get }
}

/// Prints a list page by page, in any format. It holds at most one page.
struct ListRenderer<Element: Listed> {
  let format: OutputFormat
  /// The fields of `--fields`.
  private let fields: [Field<Element>]?
  private var table: TableLayout
  private var isFirst = true

  /// - Parameter columns: the width of the terminal, at which tables are cut; `nil` for no limit.
  init(format: OutputFormat, fields: [Field<Element>]? = nil, columns: Int? = nil) {
    self.format = format
    self.fields = fields
    let titles = fields?.map { Column(title: $0.name, isNumber: $0.isNumber, isPath: $0.name == "path") }
    table = TableLayout(columns: titles ?? Element.columns, terminalColumns: columns)
  }

  /// The output for these elements, which follow the previous ones.
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

  /// The end of the list. CSV and TSV have their header even if the list is empty.
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
    let cells = fields?.map { $0.value(element).cell.flatMap { $0.isEmpty ? nil : $0 } ?? "-" } ?? element.cells
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

/// Formats rows of values for spreadsheets and for `cut`.
enum Delimited {
  /// RFC 4180: lines end with CR LF. A value that contains a comma, a quote or a line break is quoted.
  case csv
  /// Lines end with LF. A tab, line break or backslash in a value is written as `\t`, `\n`, `\r` or `\\`.
  case tsv

  func line(_ values: [String]) -> String {
    switch self {
    // Readers take an empty line for no row, so a row with one empty value is quoted.
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
  /// The text with replacements for some scalars. Characters won't do, because a quote with an accent is one character.
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
