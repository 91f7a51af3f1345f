/// An error in a JSON document and its byte offset.
struct JSONFault: Error {
  enum Reason {
    case tooLarge(limit: Int)
    case itemTooLarge(limit: Int)
    case tooDeep(limit: Int)
    case tooManyValues(limit: Int)
    case empty
    case noObject(key: String)
    /// Items were found both at the path and under a key that equals the whole path.
    case ambiguousPath(String)
    case unexpectedEnd(expected: String)
    case unexpectedCharacter(expected: String)
    case trailingComma
    case trailingContent
    case leadingZero
    case missingDigit
    case invalidUTF8
    case otherEncoding
    case unterminatedString
    case controlCharacter
    case invalidEscape
    case loneSurrogate
    case duplicateKey
    /// The work was interrupted, for example because it was cancelled. The document may be valid.
    case interrupted(Interruption)
  }

  let reason: Reason
  /// The byte offset at which the fault was detected.
  let offset: Int

  init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The description of the fault, and its remedy.
  var message: String {
    switch reason {
    case .tooLarge(let limit):
      "The document exceeds the limit of \(limit) bytes. Split it, or raise the limit."
    case .itemTooLarge(let limit):
      "An element of the document exceeds the limit of \(limit) bytes. Split it, or raise the "
        + "limit."
    case .tooDeep(let limit): "The document is nested more than \(limit) levels deep. Flatten it."
    case .tooManyValues(let limit):
      "The document has more than \(limit) values and keys. Split it."
    case .empty: "The document is empty. Expected a JSON value."
    case .noObject(let key):
      "The document is not an object. Expected an object whose key “\(key)” contains the list."
    case .ambiguousPath(let key):
      "The document has items at the path “\(key)” and under a key of that name. Write \\. for "
        + "each dot to read the items under the key."
    case .unexpectedEnd(let expected): "Expected \(expected), but the document ends."
    case .unexpectedCharacter(let expected): "Expected \(expected)."
    case .trailingComma: "There is a comma after the last element. Remove it."
    case .trailingContent: "There is content after the document's value. Remove it."
    case .leadingZero: "A number has a leading zero. Remove it."
    case .missingDigit: "Expected a digit in the number."
    case .invalidUTF8: "Invalid UTF-8. Save the document as UTF-8."
    case .otherEncoding:
      "The document is encoded as UTF-16 or UTF-32. Save it as UTF-8."
    case .unterminatedString: "A string is not terminated. Close it with a quotation mark."
    case .controlCharacter:
      "A string contains an unescaped control character. Escape it, for example as \\n or \\u000A."
    case .invalidEscape:
      "A string contains an unknown escape. Use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX."
    case .loneSurrogate:
      "A string contains half of a surrogate pair. Write both halves, or the character itself."
    case .duplicateKey: "An object has the same key twice. Remove one of the two members."
    case .interrupted(let interruption): ArborError(interruption).message
    }
  }

  /// Returns the fault as the error to throw, with its location.
  func error(at location: ArborError.SourceLocation, path: JSONPath) -> ArborError {
    if case .interrupted(let interruption) = reason { return ArborError(interruption) }
    let code: ArborError.Code =
      switch reason {
      case .tooLarge, .itemTooLarge, .tooDeep, .tooManyValues: .limitExceeded
      case .noObject, .ambiguousPath: .invalidDocument
      default: .malformedDocument
      }
    var location = location
    location.path = path.description
    var message = message
    if case .duplicateKey = reason, case .key(let key)? = path.steps.last {
      message = "An object has the key “\(key)” twice. Remove one of the two members."
    }
    return ArborError(code, message).with(location: location)
  }
}
