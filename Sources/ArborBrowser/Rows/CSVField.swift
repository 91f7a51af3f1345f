/// Fields of comma-separated values, as in RFC 4180.
package enum CSVField {
  /// Returns text as a field, in quotes if it is empty, begins or ends with white space, or
  /// contains a comma, a quotation mark or a line break.
  package static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && !text.unicodeScalars.contains { "\",\r\n".unicodeScalars.contains($0) }
      && text.first?.isWhitespace == false && text.last?.isWhitespace == false
    if isPlain { return text }
    // By scalars, because a combining mark makes one character with the quotation mark before it.
    var field = "\"".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "\"" { field.append(scalar) }
      field.append(scalar)
    }
    field.append("\"")
    return String(field)
  }
}
