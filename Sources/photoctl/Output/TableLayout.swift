struct Column: Hashable, Sendable {
  var title: String
  var isNumber = false
  /// A path that is too long is cut at its beginning.
  var isPath = false
  /// Keeps rows of later pages from exceeding the width too often. The column is not cut below it to make room.
  var minimumWidth = 0
}

/// Formats the lines of a table that is printed page by page.
struct TableLayout: Sendable {
  let columns: [Column]
  /// The width at which lines are cut; `nil` for no limit.
  let terminalColumns: Int?
  /// The widths from the first page, which apply to all pages.
  private var widths: [Int]?

  private static let gap = "  "
  /// Columns are not made narrower than this to make room for others.
  private static let narrowest = 8

  init(columns: [Column], terminalColumns: Int?) {
    self.columns = columns
    self.terminalColumns = terminalColumns
  }

  /// The lines for these rows, after the headings if they are the first. Each row has as many cells as there are
  /// columns.
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

  /// Narrows the widest columns of text until all columns fit, if they can.
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
