/// A line of `stats`.
struct ValueCount: Hashable, Sendable {
  /// `nil` for the assets without a value.
  let value: String?
  let count: Int
}

extension ValueCount: Listed {
  /// An absent value is null, and not left out.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(value, forKey: .value)
    try container.encode(count, forKey: .count)
  }

  private enum Key: String, CodingKey { case value, count }

  static let columns = [Column(title: "VALUE"), Column(title: "COUNT", isNumber: true)]

  static let fields: [Field<ValueCount>] = [Field("value", text: { $0.value }), Field("count", integer: { $0.count })]

  var cells: [String] { [value ?? "", String(count)] }

  var listedPath: String? { nil }
}

/// Formats counts.
enum StatsText {
  /// - Parameter columns: the width of the terminal, on which a table has bars; `nil` for no terminal.
  static func bytes(
    _ lines: [ValueCount], _ key: StatsKey, _ format: StatsFormat, style: Style = .plain, columns: Int? = nil
  ) throws -> [UInt8] {
    let listFormat: OutputFormat =
      switch format {
      case .table: .table
      case .json: .json
      case .jsonl: .jsonl
      case .csv: .csv
      case .tsv: .tsv
      }
    guard format == .table else {
      var renderer = ListRenderer<ValueCount>(format: listFormat)
      return try renderer.page(lines) + renderer.end()
    }
    let named = lines.map { ValueCount(value: $0.value.map(Printable.text) ?? key.absentName, count: $0.count) }
    guard let columns else {
      guard !named.isEmpty else { return [] }
      var table = TableLayout(
        columns: [Column(title: key.rawValue.uppercased()), Column(title: "COUNT", isNumber: true)],
        terminalColumns: nil)
      return Array(table.text(rows: named.map { [$0.value ?? "", String($0.count)] }).utf8)
    }
    return Array(bars(named, style, columns).utf8)
  }

  /// `2024   1,234  ████████▌`: the longest bar reaches the edge of the terminal.
  private static func bars(_ lines: [ValueCount], _ style: Style, _ columns: Int) -> String {
    let counts = lines.map { Text.grouped($0.count) }
    let countWidth = counts.map(\.utf8.count).max() ?? 0
    let longest = lines.map { TextWidth.columns(of: $0.value ?? "") }.max() ?? 0
    // Long names leave at least a third of the line to the bars, if the terminal is wide enough for both.
    let nameWidth = min(longest, max(8, (columns - countWidth - 4) * 2 / 3))
    let room = max(0, columns - nameWidth - countWidth - 4)
    let most = lines.map(\.count).max() ?? 0
    var text = ""
    for (line, count) in zip(lines, counts) {
      let name = TextWidth.padded(TextWidth.shortened(line.value ?? "", to: nameWidth), to: nameWidth)
      let padded = TextWidth.padded(count, to: countWidth, atStart: true)
      text += "\(name)  \(padded)  \(style.good(bar(line.count, of: most, room)))\n"
    }
    return text
  }

  /// A bar in eighths of a column. It is never empty for a count that is not 0.
  static func bar(_ count: Int, of most: Int, _ columns: Int) -> String {
    guard count > 0, most > 0, columns > 0 else { return "" }
    let eighths = max(1, Int((Double(count) / Double(most) * Double(columns * 8)).rounded()))
    let rest = eighths % 8
    return String(repeating: "█", count: eighths / 8)
      + (rest == 0 ? "" : ["▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest - 1])
  }
}
