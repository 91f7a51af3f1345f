import ArborJSON
import ArborModel
import Foundation

/// `{"$value": …}`: values for which the plain form of their attribute has no room.
///
/// | attribute | `$value` |
/// |---|---|
/// | string | the text as it is, `<uniqueID>` too |
/// | date | ISO 8601 whatever the attribute's format is, or seconds since 2001 as of a double |
/// | float, double | `"Infinity"` or `"-Infinity"`, which parts of composites hold; or a number |
enum ExactForm {
  static let key = "$value"
  private static let infinities = ["Infinity": Double.infinity, "-Infinity": -.infinity]

  /// The content of the form, or `nil` for anything else.
  static func content(of node: JSONNode) -> JSONNode? {
    guard node.kind == .object, node.count == 1, let member = node.members?.first else {
      return nil
    }
    return member.key == key ? member.value : nil
  }

  /// The value that the form's content denotes, or nil.
  static func value(_ content: JSONNode, for type: AttributeType) -> PropertyValue? {
    switch type {
    case .string: content.string.map(PropertyValue.string)
    case .date:
      (content.string.flatMap(ISO8601Date.parse)
        ?? double(content).map(Date.init(timeIntervalSinceReferenceDate:))).map(PropertyValue.date)
    case _ where FieldKind(type).form == .real: double(content).map(PropertyValue.double)
    default: nil
    }
  }

  private static func double(_ content: JSONNode) -> Double? {
    content.number?.double ?? content.string.flatMap { infinities[$0] }
  }

  /// The form with some content.
  static func json(_ content: JSONValue) -> JSONValue {
    .object(JSONObject(distinct: [(key, content)]))
  }

  /// The form of a number that may be infinite; nil for NaN.
  static func json(_ number: Double) -> JSONValue? {
    if let number = JSONNumber(number) { return json(.number(number)) }
    return infinities.first { $0.value == number }.map { json(.string($0.key)) }
  }
}
