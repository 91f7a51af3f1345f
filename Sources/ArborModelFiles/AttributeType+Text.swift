internal import ArborModel
internal import ArborJSON
internal import Foundation

extension AttributeType {
  /// The value that a model's text stands for, or nil where it stands for none of this type.
  ///
  /// Dates have no text in models but a number of seconds, bytes have neither.
  func value(ofText text: String) -> Value? {
    switch self {
    case .string, .undefined: .string(text)
    case .boolean: ModelXMLVocabulary.flag(text).map(Value.boolean)
    case .integer16, .integer32, .integer64:
      // Editors have written whole numbers as 0.0.
      JSONNumber(text: text)?.int64.flatMap { fitting(.integer($0)) }
    case .float, .double: Double(text).flatMap { fitting(.double($0)) }
    case .decimal: JSONNumber(text: text)?.decimal.map(Value.decimal)
    case .uuid, .uri: fitting(.string(text))
    case .date, .binary, .transformable, .composite: nil
    }
  }

  /// The value that the default of a former type stands for, where ``value(ofText:)`` knows none: a
  /// Boolean's of a number, a number's of a Boolean, a fraction of a whole number.
  func value(ofFormerText text: String) -> Value? {
    switch self {
    case .integer16, .integer32, .integer64:
      if let flag = ModelXMLVocabulary.flag(text) { return .integer(flag ? 1 : 0) }
      guard let number = JSONNumber(text: text)?.double else { return nil }
      return Int64(exactly: number.rounded(.towardZero)).flatMap { fitting(.integer($0)) }
    case .float, .double, .decimal:
      return ModelXMLVocabulary.flag(text).flatMap { fitting(.integer($0 ? 1 : 0)) }
    case .boolean:
      return JSONNumber(text: text)?.double.map { .boolean($0 != 0) }
    default: return nil
    }
  }

  /// Whether a model file can give attributes of the type a default value.
  var hasTextualDefault: Bool {
    switch self {
    case .date, .binary, .transformable, .composite: false
    default: true
    }
  }
}
