package import ArborJSON
internal import ArborObjects

/// The form of a document of rows.
package enum RowForm: Equatable, Sendable {
  /// One list, with one row per line.
  case json
  /// One row per line.
  case ndjson
  case delimited(DelimitedRows)

  /// Returns the form with a name, or `nil` if the name is unknown.
  package init?(named name: String) {
    switch name {
    case "json": self = .json
    case "ndjson": self = .ndjson
    case "csv": self = .delimited(.csv)
    case "tsv": self = .delimited(.tsv)
    case "markdown": self = .delimited(.markdown)
    default: return nil
    }
  }

  var contentType: String {
    switch self {
    case .json: "application/json"
    case .ndjson: "application/x-ndjson"
    case .delimited(.csv): "text/csv; charset=utf-8"
    case .delimited(.tsv): "text/tab-separated-values; charset=utf-8"
    case .delimited(.markdown): "text/markdown; charset=utf-8"
    }
  }
}

/// Writes rows as a document, piece by piece.
package struct RowDocument {
  package let form: RowForm
  private let columns: [String]
  private let isEscaped: Bool
  private var count = 0

  /// - Parameters:
  ///   - columns: The keys of the rows, in the order of delimited columns.
  ///   - isEscaped: Whether control characters in delimited rows are escaped, because a terminal
  ///     would interpret them.
  package init(_ form: RowForm, columns: [String], isEscaped: Bool = false) {
    self.form = form
    self.columns = columns
    self.isEscaped = isEscaped
  }

  /// The text before the first row.
  package var head: String {
    switch form {
    case .json: "["
    case .ndjson: ""
    case .delimited(let rows): rows.header(columns) + "\n"
    }
  }

  /// Returns the text of the next row, which is an object.
  package mutating func row(_ row: JSONValue) -> String {
    defer { count += 1 }
    switch form {
    case .json: return (count == 0 ? "\n" : ",\n") + row.text(.compact)
    case .ndjson: return row.text(.compact) + "\n"
    case .delimited(let rows):
      let object = row.object ?? JSONObject()
      let line = rows.line(columns.map { object[$0] ?? .null })
      return (isEscaped ? TerminalText.escaped(line) : line) + "\n"
    }
  }

  /// The text after the last row. A list without it is recognizably truncated.
  package var tail: String {
    guard form == .json else { return "" }
    return count == 0 ? "]\n" : "\n]\n"
  }
}
