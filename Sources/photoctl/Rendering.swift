import ArgumentParser
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The forms in which a list is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, json, jsonl, paths

  /// What suits where the output goes.
  static var standard: OutputFormat { Output.isTerminal ? .table : .jsonl }
}

/// JSON as on the wire, with the keys in a fixed order.
enum JSONText {
  static func line<T: Encodable>(_ value: T) throws -> [UInt8] {
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
protocol Listed: Encodable {
  /// The columns of a table; the last is not padded.
  static var columns: [Column] { get }
  /// As many as there are columns.
  var cells: [String] { get }
  /// What `--format paths` prints, as text of the wire.
  var listedPath: String? { get }
}

struct Column: Hashable, Sendable {
  var title: String
  var isNumber = false
  /// So that rows of later pages rarely stand out.
  var minimumWidth = 0
}

/// Prints a list page by page, in any format, holding one page at most.
struct ListRenderer<Element: Listed> {
  let format: OutputFormat
  private var widths: [Int]?
  private var isFirst = true

  init(format: OutputFormat) { self.format = format }

  /// What is to be printed for these, after those before.
  mutating func page(_ elements: [Element]) throws -> [UInt8] {
    guard !elements.isEmpty else { return [] }
    defer { isFirst = false }
    switch format {
    case .table: return table(elements)
    case .jsonl: return try elements.flatMap { try JSONText.line($0) + [newline] }
    case .json:
      var bytes: [UInt8] = []
      for (index, element) in elements.enumerated() {
        bytes += Array((isFirst && index == 0 ? "[\n" : ",\n").utf8) + (try JSONText.line(element))
      }
      return bytes
    case .paths:
      return elements.flatMap { element in element.listedPath.map { FilePath.bytes($0) + [newline] } ?? [] }
    }
  }

  /// What closes the list.
  func end() -> [UInt8] {
    guard format == .json else { return [] }
    return Array((isFirst ? "[]\n" : "\n]\n").utf8)
  }

  private mutating func table(_ elements: [Element]) -> [UInt8] {
    let rows = elements.map { $0.cells.map(Printable.text) }
    var text = ""
    if widths == nil {
      // Those of the first page serve for all: a table is printed as it comes.
      let widths = Element.columns.indices.map { column in
        rows.reduce(max(Element.columns[column].title.count, Element.columns[column].minimumWidth)) {
          max($0, $1[column].count)
        }
      }
      self.widths = widths
      text += line(Element.columns.map(\.title), widths)
    }
    for row in rows { text += line(row, widths ?? []) }
    return Array(text.utf8)
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: max(0, widths[index] - cell.count))
      if Element.columns[index].isNumber {
        line += padding + cell
      } else {
        line += index == cells.count - 1 ? cell : cell + padding
      }
      if index < cells.count - 1 { line += "  " }
    }
    return line + "\n"
  }
}
