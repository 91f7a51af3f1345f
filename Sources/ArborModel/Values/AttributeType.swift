/// The type of an attribute in a model.
public enum AttributeType: Sendable, Hashable {
  /// A 16-bit signed integer.
  case integer16
  /// A 32-bit signed integer.
  case integer32
  /// A 64-bit signed integer.
  case integer64
  /// A Boolean.
  case boolean
  /// A 32-bit floating-point number.
  case float
  /// A 64-bit floating-point number.
  case double
  /// A decimal number of up to 38 digits.
  case decimal
  /// A string of any length.
  case string
  /// A point in time, stored as seconds since 2001-01-01 UTC.
  case date
  /// Bytes of any length.
  case binary
  /// A universally unique identifier.
  case uuid
  /// A URI.
  case uri
  /// A value that a registered transformer converts to bytes. The associated value is the
  /// transformer's name.
  case transformable(String)
  /// Named parts that are stored in one attribute. The associated value is the name of the
  /// composite type.
  case composite(String)
  /// A JSON value, such as the value of a `Codable` type: an object, an array, a string, a number or
  /// a Boolean. `nil` is the value `null`. It is always stored in the record.
  case json
  /// No type. Valid only for transient attributes, which can then have any value.
  case undefined
}
