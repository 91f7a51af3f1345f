/// Pieces of Swift source.
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

  /// A name as an identifier: in backticks where the language uses the word.
  package static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// A name as that of a type: letters, digits and underscores, and no digit first.
  package static func typeName(_ name: String) -> String {
    var letters = name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }
    if letters.first?.isNumber ?? true { letters.insert("_", at: 0) }
    return String(letters)
  }

  /// A list on one line where it fits, else with its elements on lines of their own.
  ///
  /// - Parameters:
  ///   - indentation: The column at which the list's line begins.
  ///   - taken: How many columns of that line stand before the list.
  package static func list(_ elements: [String], indentation: Int, taken: Int) -> String {
    let line = "[\(elements.joined(separator: ", "))]"
    if indentation + taken + line.count <= width { return line }
    let margin = String(repeating: " ", count: indentation)
    return "[\n"
      + filled(elements, indentation: indentation + 2, width: width)
      .joined(separator: "\n") + ",\n\(margin)]"
  }

  /// A call on one line where it fits, else with its arguments on lines of their own.
  ///
  /// - Parameters:
  ///   - indentation: The column at which the call begins in its text.
  ///   - shift: By how much that text is to be moved to the right later.
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

  /// A list with a line for each element.
  ///
  /// - Parameter indentation: The column at which the list's line begins.
  package static func lines(_ elements: [String], indentation: Int) -> String {
    let margin = String(repeating: " ", count: indentation)
    let inner = elements.map { indented($0, by: indentation + 2) }.joined(separator: ",\n")
    // Formatters want a comma behind the last of several.
    return "[\n\(inner)\(elements.count > 1 ? "," : "")\n\(margin)]"
  }

  /// Lines of elements, each as full as it gets.
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

  /// A text with every line moved to the right.
  package static func indented(_ text: String, by columns: Int = 2) -> String {
    let margin = String(repeating: " ", count: columns)
    return margin
      + text.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\n\(margin)")
  }

  /// The words that are no names without backticks.
  private static let keywords: Set<String> = [
    "Any", "Self", "Type", "Protocol", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
