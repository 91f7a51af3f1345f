/// A namespace for functions that format Swift source.
package enum SourceText {
  static let width = 100

  package static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// Returns a name as an identifier, in backticks if it is a keyword.
  package static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// Returns a name as a type name: letters, digits and underscores, not starting with a digit.
  package static func typeName(_ name: String) -> String {
    var letters = name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }
    if letters.first?.isNumber ?? true { letters.insert("_", at: 0) }
    return String(letters)
  }

  /// Returns an array literal on one line if it fits, otherwise with its elements on separate
  /// lines.
  ///
  /// - Parameters:
  ///   - indentation: The column at which the line that contains the literal starts.
  ///   - taken: The number of columns of that line that precede the literal.
  package static func list(_ elements: [String], indentation: Int, taken: Int) -> String {
    let line = "[\(elements.joined(separator: ", "))]"
    if indentation + taken + line.count <= width { return line }
    let margin = String(repeating: " ", count: indentation)
    return "[\n"
      + filled(elements, indentation: indentation + 2, width: width)
      .joined(separator: "\n") + ",\n\(margin)]"
  }

  /// Returns a call on one line if it fits, otherwise with its arguments on separate lines.
  ///
  /// - Parameters:
  ///   - indentation: The column at which the call starts.
  ///   - shift: The number of columns by which the caller will indent the result.
  package static func call(
    _ function: String, _ arguments: [String], indentation: Int, shift: Int = 0
  ) -> String {
    let width = width - shift
    let line = "\(function)(\(arguments.joined(separator: ", ")))"
    // A comma or two parentheses may follow.
    if indentation + line.count + 2 <= width, !line.contains("\n") { return line }
    let lines = filled(arguments, indentation: indentation + 2, width: width - 1)
    return "\(function)(\n\(lines.joined(separator: "\n")))"
  }

  /// Returns an array literal with one element per line.
  ///
  /// - Parameter indentation: The column at which the line that contains the literal starts.
  package static func lines(_ elements: [String], indentation: Int) -> String {
    let margin = String(repeating: " ", count: indentation)
    let inner = elements.map { indented($0, by: indentation + 2) }.joined(separator: ",\n")
    // Formatters require a trailing comma after the last of several elements.
    return "[\n\(inner)\(elements.count > 1 ? "," : "")\n\(margin)]"
  }

  /// Returns lines of comma-separated elements, each line filled up to `width`.
  private static func filled(_ elements: [String], indentation: Int, width: Int) -> [String] {
    let margin = String(repeating: " ", count: indentation)
    var lines: [String] = []
    for element in elements {
      if let last = lines.last, last.count + element.count + 3 <= width,
        !last.contains("\n"), !element.contains("\n")
      {
        lines[lines.count - 1] += ", \(element)"
      } else {
        if !lines.isEmpty { lines[lines.count - 1] += "," }
        lines.append(margin + element)
      }
    }
    return lines
  }

  package static func indented(_ text: String, by columns: Int = 2) -> String {
    let margin = String(repeating: " ", count: columns)
    return margin
      + text.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\n\(margin)")
  }

  /// The keywords, which need backticks as identifiers.
  private static let keywords: Set<String> = [
    "Any", "Self", "Type", "Protocol", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
