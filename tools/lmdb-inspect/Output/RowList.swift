import ArborBrowser
import ArborJSON
import ArborModel

/// Rows of values with column names, printed incrementally: aligned columns as text, otherwise one
/// object for each row.
///
/// A column is as wide as its widest cell among the rows that fit into 16 MiB. Further rows are
/// printed as they come, and a wider cell shifts the rest of its line.
struct RowList {
  private static let room = 16 << 20

  private let names: [String]
  private let labels: ObjectLabels?
  /// The concatenated cells that have not been printed yet.
  private var bytes: [UInt8] = []
  /// For each cell, its end in ``bytes`` and its width in terminal columns.
  private var cells: [(end: Int, width: Int)] = []
  private var widths: [Int]
  private var hasBegun = false
  private var hasHeader = false
  private var count = 0

  /// - Parameter labels: The labels of objects in text.
  init(_ names: [String], labels: ObjectLabels? = nil) {
    self.names = names
    self.labels = labels
    widths = names.map(TextWidth.of)
  }

  mutating func add(_ values: [PropertyValue], to printer: inout Printer) {
    begin(&printer)
    count += 1
    guard printer.form == .text else {
      return printer.add(json: RowText.json(values, names), text: "")
    }
    let labels = labels
    let texts = zip(names, values).map { Self.text($1, in: $0, labels) }
    if printer.view.isExpanded {
      return printer.add(json: .null, text: ExpandedRow.text(count, names, texts) + "\n")
    }
    for text in texts { add(text) }
    if hasHeader || bytes.count > Self.room { printCells(&printer) }
  }

  /// Prints the remaining rows and, in text form, the number of rows.
  mutating func end(_ printer: inout Printer) {
    begin(&printer)
    if !cells.isEmpty { printCells(&printer) }
    printer.endList(summary: count == 1 ? "1 row" : "\(count) rows")
  }

  /// Prints the rows preceding an error.
  mutating func cut(_ printer: inout Printer) {
    if !cells.isEmpty { printCells(&printer) }
  }

  /// Begins the list with the first row, so that a query that fails before it prints nothing.
  private mutating func begin(_ printer: inout Printer) {
    guard !hasBegun else { return }
    hasBegun = true
    printer.beginList(columns: names)
  }

  private mutating func add(_ cell: String) {
    let start = bytes.count
    bytes.append(contentsOf: cell.utf8)
    let isASCII = bytes[start...].allSatisfy { $0 < 0x80 }
    let width = isASCII ? bytes.count - start : TextWidth.of(cell)
    if !hasHeader {
      let column = cells.count % names.count
      widths[column] = max(widths[column], width)
    }
    cells.append((bytes.count, width))
  }

  private mutating func printCells(_ printer: inout Printer) {
    if !hasHeader {
      hasHeader = true
      widths = ColumnWidths.fitting(widths, in: printer.view)
      let cells = zip(names, widths).map { TextWidth.padded(TextWidth.cut($0, to: $1), to: $1) }
      let line = cells.joined(separator: "  ")
      printer.write(heading: String(line.reversed().drop { $0 == " " }.reversed()))
    }
    var line: [UInt8] = []
    var start = 0
    for (index, cell) in cells.enumerated() {
      let column = index % names.count
      let width = add(bytes[start..<cell.end], cell.width, column, printer.view, to: &line)
      start = cell.end
      if column < names.count - 1 {
        let blanks = max(0, widths[column] - width) + ColumnWidths.gap
        line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: blanks))
      } else {
        printer.write(line: line)
        line.removeAll(keepingCapacity: true)
      }
    }
    bytes.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
  }

  /// Adds a cell to a line, truncated on a terminal. Returns its width.
  private func add(
    _ cell: ArraySlice<UInt8>, _ width: Int, _ column: Int, _ view: TerminalView,
    to line: inout [UInt8]
  ) -> Int {
    guard view.width != nil, width > widths[column] else {
      line.append(contentsOf: cell)
      return width
    }
    let text = TextWidth.cut(String(decoding: cell, as: UTF8.self), to: widths[column])
    line.append(contentsOf: text.utf8)
    return TextWidth.of(text)
  }

  /// Returns a value as text. The object itself needs no label, because its row has the attribute.
  private static func text(
    _ value: PropertyValue, in column: String, _ labels: ObjectLabels?
  ) -> String {
    switch value {
    case .objectID(let id):
      column == IdentityColumn.name ? name(id) : labels?.text(id) ?? name(id)
    case .list(let values):
      "[" + values.map { text($0, in: column, labels) }.joined(separator: ", ") + "]"
    default: ValueText.text(value)
    }
  }

  /// Returns `Entity/number`, the form accepted by `show`.
  private static func name(_ id: ObjectID) -> String { "\(id.entityName)/\(id.number)" }
}
