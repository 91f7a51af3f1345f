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
  /// The concatenated cells that have not been printed yet.
  private var bytes: [UInt8] = []
  /// For each cell, its end in ``bytes`` and its width in terminal columns.
  private var cells: [(end: Int, width: Int)] = []
  private var widths: [Int]
  private var hasBegun = false
  private var hasHeader = false
  private var count = 0

  init(_ names: [String]) {
    self.names = names
    widths = names.map(TextWidth.of)
  }

  mutating func add(_ values: [PropertyValue], to printer: inout Printer) {
    begin(&printer)
    count += 1
    guard printer.form == .text else {
      return printer.add(json: .object(object(of: values)), text: "")
    }
    for value in values { add(Self.text(value)) }
    if hasHeader || bytes.count > Self.room { printCells(&printer) }
  }

  /// Prints the remaining rows, and as text their number.
  mutating func end(_ printer: inout Printer) {
    begin(&printer)
    if printer.form == .text, count > 0 { printCells(&printer) }
    printer.endList(summary: count == 1 ? "1 row" : "\(count) rows")
  }

  /// Prints the rows preceding an error.
  mutating func cut(_ printer: inout Printer) {
    if printer.form == .text, count > 0 { printCells(&printer) }
  }

  /// Begins the list with the first row, so that a query that fails before it prints nothing.
  private mutating func begin(_ printer: inout Printer) {
    guard !hasBegun else { return }
    hasBegun = true
    printer.beginList(columns: names)
  }

  private func object(of values: [PropertyValue]) -> JSONObject {
    var object = JSONObject()
    for (name, value) in zip(names, values) { object[name] = Self.json(value) }
    return object
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
      let cells = zip(names, widths).map { TextWidth.padded($0, to: $1) }
      printer.write(line: Array(cells.joined(separator: "  ").utf8))
    }
    var line: [UInt8] = []
    var start = 0
    for (index, cell) in cells.enumerated() {
      let column = index % names.count
      line.append(contentsOf: bytes[start..<cell.end])
      start = cell.end
      if column < names.count - 1 {
        let blanks = max(0, widths[column] - cell.width) + 2
        line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: blanks))
      } else {
        printer.write(line: line)
        line.removeAll(keepingCapacity: true)
      }
    }
    bytes.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
  }

  private static func json(_ value: PropertyValue) -> JSONValue {
    if case .objectID(let id) = value { return .string(name(id)) }
    if case .list(let values) = value { return .array(values.map(json)) }
    return ValueText.json(value)
  }

  private static func text(_ value: PropertyValue) -> String {
    if case .objectID(let id) = value { return name(id) }
    if case .list(let values) = value {
      return "[" + values.map(text).joined(separator: ", ") + "]"
    }
    return ValueText.text(value)
  }

  /// Returns `Entity/number`, the form accepted by `show`.
  private static func name(_ id: ObjectID) -> String { "\(id.entityName)/\(id.number)" }
}
