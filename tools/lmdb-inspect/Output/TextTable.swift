/// Rows in aligned columns. Numbers are right-aligned.
struct TextTable {
  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: [String]) { self.header = header }

  mutating func add(_ row: [String]) { rows.append(row) }

  var isEmpty: Bool { rows.isEmpty }

  var text: String { text(.plain) }

  /// The heading, which stays in place when rows scroll, and the lines of the rows.
  var headerAndRows: (header: String?, rows: [String]) {
    let lines = text.split(separator: "\n").map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func text(_ view: TerminalView) -> String {
    if view.isExpanded, !header.isEmpty {
      return rows.enumerated().map { ExpandedRow.text($0 + 1, header, $1) }
        .joined(separator: "\n\n")
    }
    let all = (header.isEmpty ? [] : [header]) + rows
    let columns = all.map(\.count).max() ?? 0
    // A list of facts has long last cells, which the terminal wraps.
    let view = header.isEmpty ? .plain : view
    let widths = ColumnWidths.fitting(
      (0..<columns).map { column in
        all.map { column < $0.count ? TextWidth.of($0[column]) : 0 }.max() ?? 0
      }, in: view)
    let isNumeric = (0..<columns).map { column in
      rows.allSatisfy { column >= $0.count || Self.isNumber($0[column]) }
    }
    return all.enumerated().map { index, row in
      let cells = row.enumerated().map { column, whole in
        let cell = TextWidth.cut(whole, to: widths[column])
        let padding = String(repeating: " ", count: widths[column] - TextWidth.of(cell))
        return isNumeric[column] ? padding + cell : cell + padding
      }
      let line = cells.joined(separator: String(repeating: " ", count: ColumnWidths.gap))
      let end = line.utf8.lastIndex { $0 != UInt8(ascii: " ") }
      let fitted = view.fitted(end.map { String(line[...$0]) } ?? "")
      return index == 0 && !header.isEmpty ? view.heading(fitted) : fitted
    }.joined(separator: "\n")
  }

  private static func isNumber(_ text: String) -> Bool {
    guard let first = text.first, first.isNumber || first == "-" else { return false }
    return SizeText.withoutUnit(text).allSatisfy { $0.isNumber || ".,-%".contains($0) }
  }
}
