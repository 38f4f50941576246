struct Column: Hashable, Sendable {
  var title: String
  var isNumber = false
  /// Where it must be cut, the end is kept.
  var isPath = false
  /// So that rows of later pages rarely stand out; and what is cut last.
  var minimumWidth = 0
}

/// The lines of a table that is printed as it comes.
struct TableLayout: Sendable {
  let columns: [Column]
  /// Lines are cut here; `nil` for never.
  let terminalColumns: Int?
  /// Those of the first rows serve for all.
  private var widths: [Int]?

  private static let gap = "  "
  /// No column is made narrower to make room for others.
  private static let narrowest = 8

  init(columns: [Column], terminalColumns: Int?) {
    self.columns = columns
    self.terminalColumns = terminalColumns
  }

  /// Lines for these rows, below the headings if they are the first. Each has as many cells as there are columns.
  mutating func text(rows: [[String]]) -> String {
    var text = ""
    let widths: [Int]
    if let known = self.widths {
      widths = known
    } else {
      widths = fitted(naturalWidths(rows))
      self.widths = widths
      text += line(columns.map(\.title), widths)
    }
    for row in rows { text += line(row, widths) }
    return text
  }

  private func naturalWidths(_ rows: [[String]]) -> [Int] {
    columns.indices.map { column in
      rows.reduce(max(TextWidth.columns(of: columns[column].title), columns[column].minimumWidth)) {
        max($0, TextWidth.columns(of: $1[column]))
      }
    }
  }

  /// The widest columns of text made narrower until all fit, if they can.
  private func fitted(_ natural: [Int]) -> [Int] {
    guard let terminalColumns else { return natural }
    var widths = natural
    let gaps = Self.gap.utf8.count * (columns.count - 1)
    while widths.reduce(gaps, +) > terminalColumns {
      let wide = widths.indices.filter {
        !columns[$0].isNumber && widths[$0] > max(Self.narrowest, columns[$0].minimumWidth)
      }
      guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    if let last = widths.indices.last, !columns[last].isNumber {
      widths[last] = max(widths[last], terminalColumns - gaps - widths.dropLast().reduce(0, +))
    }
    return widths
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let isLast = index == cells.count - 1
      let shown = cut(cell, columns[index], widths[index])
      if columns[index].isNumber {
        line += TextWidth.padded(shown, to: widths[index], atStart: true)
      } else {
        line += isLast ? shown : TextWidth.padded(shown, to: widths[index])
      }
      if !isLast { line += Self.gap }
    }
    return (terminalColumns.map { TextWidth.shortened(line, to: $0) } ?? line) + "\n"
  }

  private func cut(_ cell: String, _ column: Column, _ width: Int) -> String {
    guard terminalColumns != nil, !column.isNumber else { return cell }
    return column.isPath ? TextWidth.shortenedAtStart(cell, to: width) : TextWidth.shortened(cell, to: width)
  }
}
