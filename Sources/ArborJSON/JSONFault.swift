/// An error in a JSON document and its byte offset.
struct JSONFault: Error {
  enum Reason {
    case tooLarge(limit: Int)
    case itemTooLarge(limit: Int)
    case tooDeep(limit: Int)
    case tooManyValues(limit: Int)
    case empty
    case noObject(key: String)
    /// Items were found both at the path and under a key that is spelled like it.
    case ambiguousPath(String)
    case unexpectedEnd(expected: String)
    case unexpectedCharacter(expected: String)
    case trailingComma
    case trailingContent
    case leadingZero
    case missingDigit
    case invalidUTF8
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
      "The document is larger than \(limit) bytes; split it, or raise the limit."
    case .itemTooLarge(let limit):
      "An element of the document is larger than \(limit) bytes; split it, or raise the limit."
    case .tooDeep(let limit): "The document nests deeper than \(limit) levels; flatten it."
    case .tooManyValues(let limit):
      "The document holds more than \(limit) values and keys; split it."
    case .empty: "The document is empty; write a JSON value."
    case .noObject(let key):
      "The document is no object; write one whose key “\(key)” holds the list."
    case .ambiguousPath(let key):
      "The document has items at the path “\(key)” and under a key of that name; write \\. for each "
        + "dot to read those under the key."
    case .unexpectedEnd(let expected): "The document ends where \(expected) is expected."
    case .unexpectedCharacter(let expected): "There is no JSON here; \(expected) is expected."
    case .trailingComma: "There is a comma behind the last element; remove it."
    case .trailingContent: "There is more behind the document's value; remove it."
    case .leadingZero: "A number starts with a zero that means nothing; remove the zero."
    case .missingDigit: "A number lacks a digit here; write at least one."
    case .invalidUTF8: "The bytes here are no UTF-8; save the document as UTF-8."
    case .unterminatedString: "A string has no end; close it with a quotation mark."
    case .controlCharacter:
      "A string holds a bare control character; write it as an escape, \\n or \\u000A."
    case .invalidEscape:
      "A string holds an unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX."
    case .loneSurrogate:
      "A string holds one half of a surrogate pair; write both halves, or the character itself."
    case .duplicateKey: "An object has a key twice; keep one of the two."
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
      message = "An object has the key “\(key)” twice; keep one of the two."
    }
    return ArborError(code, message).with(location: location)
  }
}
