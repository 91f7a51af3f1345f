/// The type of an attribute, as a model states it.
public enum AttributeType: Sendable, Hashable {
  /// A whole number of 16 bits.
  case integer16
  /// A whole number of 32 bits.
  case integer32
  /// A whole number of 64 bits.
  case integer64
  /// A Boolean.
  case boolean
  /// A floating-point number of 32 bits.
  case float
  /// A floating-point number of 64 bits.
  case double
  /// A decimal number of up to 38 digits.
  case decimal
  /// A text of any length.
  case string
  /// A point in time, kept as seconds since 2001-01-01 UTC.
  case date
  /// Bytes of any length.
  case binary
  /// A universally unique identifier.
  case uuid
  /// A URI.
  case uri
  /// A value that a registered transformer turns into bytes; the transformer's name.
  case transformable(String)
  /// Several named parts kept in one attribute; the name of the model's composite type.
  case composite(String)
  /// No type in the model; legal for transient attributes, which may hold any value.
  case undefined
}
