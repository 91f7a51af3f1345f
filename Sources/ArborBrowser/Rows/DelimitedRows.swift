package import ArborJSON
internal import ArborModel
internal import ArborObjects

/// A form in which each row is a line of cells.
package enum DelimitedRows: Equatable {
  /// Comma-separated values of RFC 4180. Only an absent value is an empty field without quotes.
  case csv
  /// Tab-separated values. Tabs, line breaks and backslashes are escaped with a backslash.
  case tsv
  /// A table of GitHub-flavored Markdown.
  case markdown

  /// Returns the lines before the first row.
  package func header(_ columns: [String]) -> String {
    let line = self.line(columns.map(JSONValue.string))
    guard self == .markdown else { return line }
    return line + "\n|" + columns.map { _ in " --- |" }.joined()
  }

  /// Returns a row as a line.
  package func line(_ values: [JSONValue]) -> String {
    let cells = values.map(cell)
    return switch self {
    case .csv: cells.joined(separator: ",")
    case .tsv: cells.joined(separator: "\t")
    case .markdown: "| " + cells.joined(separator: " | ") + " |"
    }
  }

  private func cell(_ value: JSONValue) -> String {
    let text = Self.text(value)
    switch self {
    case .csv: return value.isNull ? "" : CSVField.quoted(text)
    case .tsv: return Self.escaped(text, Self.escapeOfTSV)
    case .markdown: return Self.markdown(text)
    }
  }

  private static func text(_ value: JSONValue) -> String {
    if value.isNull { return "" }
    return value.string ?? value.text(.compact)
  }

  private static func escapeOfTSV(_ scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "\\": "\\\\"
    case "\t": "\\t"
    case "\n": "\\n"
    case "\r": "\\r"
    default: nil
    }
  }

  /// Returns text that Markdown shows as it is. Markdown is for readers, so invisible characters
  /// are escaped visibly.
  private static func markdown(_ text: String) -> String {
    let special = "\\`*_[]<>|~&#".unicodeScalars
    return escaped(TerminalText.escaped(text)) { special.contains($0) ? "\\\($0)" : nil }
  }

  /// Replaces scalars rather than characters, because a combining mark is part of the same
  /// character as the scalar before it.
  private static func escaped(
    _ text: String, _ replacement: (Unicode.Scalar) -> String?
  ) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      if let text = replacement(scalar) {
        escaped += text
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
