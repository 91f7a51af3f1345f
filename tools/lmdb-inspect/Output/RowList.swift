import ArborJSON
import ArborModel

/// Rows of values under the names of their columns, printed as they come: for a person in aligned
/// columns, whose widths the first rows decide, for a program as a list of objects.
struct RowList {
  /// So many rows decide how wide columns are.
  private static let first = 100

  private let names: [String]
  private var waiting: [[String]] = []
  private var widths: [Int] = []
  private var count = 0

  init(_ names: [String]) { self.names = names }

  mutating func add(_ values: [Value], to printer: inout Printer) {
    if count == 0, printer.isJSON { printer.beginList() }
    count += 1
    if printer.isJSON {
      var object = JSONObject()
      for (name, value) in zip(names, values) { object[name] = Self.json(value) }
      return printer.add(json: .object(object), text: "")
    }
    waiting.append(values.map(Self.text))
    if waiting.count >= Self.first || !widths.isEmpty { printWaiting(&printer) }
  }

  /// Prints what is left, and for a person how many rows there were.
  mutating func end(_ printer: inout Printer) {
    if printer.isJSON {
      if count == 0 { printer.beginList() }
      return printer.endList(summary: "")
    }
    printWaiting(&printer)
    printer.print(json: .null, text: count == 1 ? "1 row" : "\(count) rows")
  }

  private mutating func printWaiting(_ printer: inout Printer) {
    guard !waiting.isEmpty else { return }
    if widths.isEmpty {
      widths = names.indices.map { column in
        (waiting + [names]).map { TextWidth.of($0[column]) }.max() ?? 0
      }
      printLine(names, &printer)
    }
    for row in waiting { printLine(row, &printer) }
    waiting.removeAll(keepingCapacity: true)
  }

  private func printLine(_ cells: [String], _ printer: inout Printer) {
    let line = zip(cells, widths).map { TextWidth.padded($0, to: $1) }.joined(separator: "  ")
    printer.print(json: .null, text: String(line.reversed().drop { $0 == " " }.reversed()))
  }

  private static func json(_ value: Value) -> JSONValue {
    if case .objectID(let id) = value { return .string(name(id)) }
    if case .list(let values) = value { return .array(values.map(json)) }
    return ValueText.json(value)
  }

  private static func text(_ value: Value) -> String {
    if case .objectID(let id) = value { return name(id) }
    if case .list(let values) = value {
      return "[" + values.map(text).joined(separator: ", ") + "]"
    }
    return ValueText.text(value)
  }

  /// `Entity/number`, the form that `show` takes.
  private static func name(_ id: ObjectID) -> String { "\(id.entityName)/\(id.number)" }
}
