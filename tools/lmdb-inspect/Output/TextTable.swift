/// Rows in aligned columns. Numbers are right-aligned.
struct TextTable {
  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: [String]) { self.header = header }

  mutating func add(_ row: [String]) { rows.append(row) }

  var text: String {
    let all = (header.isEmpty ? [] : [header]) + rows
    let columns = all.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      all.map { column < $0.count ? TextWidth.of($0[column]) : 0 }.max() ?? 0
    }
    let isNumeric = (0..<columns).map { column in
      rows.allSatisfy { column >= $0.count || Self.isNumber($0[column]) }
    }
    return all.map { row in
      let cells = row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - TextWidth.of(cell))
        return isNumeric[column] ? padding + cell : cell + padding
      }
      let line = cells.joined(separator: "  ")
      let end = line.utf8.lastIndex { $0 != UInt8(ascii: " ") }
      return end.map { String(line[...$0]) } ?? ""
    }.joined(separator: "\n")
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isNumber || ".,-%".contains($0) }
  }
}
