/// Lists in a text: `name,count(employees),-age`.
package enum CommaList {
  /// Returns the elements of lists, split at commas outside parentheses, brackets and quotes. Omits
  /// empty ones.
  package static func parts(of lists: [String]) -> [String] {
    lists.flatMap { list in
      var parts = [""]
      var depth = 0
      var quote: Character?
      for character in list {
        if let open = quote {
          if character == open { quote = nil }
        } else if character == "'" || character == "\"" {
          quote = character
        } else if "([{".contains(character) {
          depth += 1
        } else if ")]}".contains(character) {
          depth -= 1
        } else if character == ",", depth == 0 {
          parts.append("")
          continue
        }
        parts[parts.count - 1].append(character)
      }
      return parts.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        .filter { !$0.isEmpty }
    }
  }
}
