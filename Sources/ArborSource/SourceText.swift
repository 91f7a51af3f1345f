/// Pieces of Swift source.
package enum SourceText {
  /// The longest line.
  static let width = 100

  /// A text as a literal.
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
    if indentation + line.count + 2 <= width { return line }
    let inner = String(repeating: " ", count: indentation + 2)
    var lines: [String] = []
    for argument in arguments {
      if let last = lines.last, last.count + argument.count + 4 <= width {
        lines[lines.count - 1] += ", \(argument)"
      } else {
        if !lines.isEmpty { lines[lines.count - 1] += "," }
        lines.append(inner + argument)
      }
    }
    return "\(function)(\n\(lines.joined(separator: "\n")))"
  }

  /// A text with every line moved to the right.
  static func indented(_ text: String) -> String {
    "  " + text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n  ")
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
