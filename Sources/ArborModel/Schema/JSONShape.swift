/// The structure of a JSON attribute's values.
///
/// A typed class finds the structure from the `Codable` type of its property. Programs and tools
/// without the class then know it from the store's file: which parts exist, which are dates or UUIDs,
/// and which may be missing. It can also be written by hand:
///
/// ```swift
/// AttributeDescription(
///   "address", .json,
///   .json(["street": .string, "city": .string, "zip": .optional(.string), "since": .date]))
/// ```
///
/// Objects may have further members that the structure doesn't name. They are kept, because
/// another version of the program may know them.
public indirect enum JSONShape: Sendable, Hashable {
  /// Any JSON value.
  case any
  /// A string, number or Boolean.
  case scalar(Scalar)
  /// A string or a whole number, of which these are the known ones: an enumeration's raw values.
  case cases([PropertyValue])
  /// An object with a member for each key.
  case object([String: JSONShape])
  /// An array whose elements have the same structure.
  case list(JSONShape)
  /// An object with any keys, whose members have the same structure.
  case map(JSONShape)
  /// A value that may also be null or, in an object, missing.
  case optional(JSONShape)

  /// The Swift type that a JSON string, number or Boolean represents.
  public enum Scalar: Sendable, Hashable {
    /// `true` or `false`.
    case boolean
    /// A whole number in two's complement, or without a sign, of this many bits.
    case integer(bits: UInt8, isSigned: Bool)
    /// A number that is read as a `Float`.
    case float
    /// A number that is read as a `Double`.
    case double
    /// A number with up to 38 decimal digits.
    case decimal
    /// A string.
    case string
    /// A string of hexadecimal digits in the form of `UUID`.
    case uuid
    /// A string that is a URI.
    case uri
    /// A number: seconds since 2001-01-01 UTC, the default of `JSONEncoder`.
    case date
    /// A string: base64-encoded bytes.
    case binary
  }

  /// `true` or `false`.
  public static let boolean = JSONShape.scalar(.boolean)
  /// A whole number of 64 bits with a sign.
  public static let integer = JSONShape.scalar(.integer(bits: 64, isSigned: true))
  /// A number that is read as a `Float`.
  public static let float = JSONShape.scalar(.float)
  /// A number that is read as a `Double`.
  public static let double = JSONShape.scalar(.double)
  /// A number with up to 38 decimal digits.
  public static let decimal = JSONShape.scalar(.decimal)
  /// A string.
  public static let string = JSONShape.scalar(.string)
  /// A string of hexadecimal digits in the form of `UUID`.
  public static let uuid = JSONShape.scalar(.uuid)
  /// A string that is a URI.
  public static let uri = JSONShape.scalar(.uri)
  /// Seconds since 2001-01-01 UTC.
  public static let date = JSONShape.scalar(.date)
  /// Base64-encoded bytes.
  public static let binary = JSONShape.scalar(.binary)
}

extension JSONShape: ExpressibleByDictionaryLiteral {
  /// Creates the structure of an object from its members.
  ///
  /// - Precondition: No two keys are equal.
  public init(dictionaryLiteral members: (String, JSONShape)...) {
    self = .object(Dictionary(uniqueKeysWithValues: members))
  }
}

extension JSONShape {
  /// Whether the value may be null or missing.
  package var isOptional: Bool {
    switch self {
    case .optional, .any: true
    default: false
    }
  }

  /// The structure of a value that is present.
  package var present: JSONShape {
    if case .optional(let shape) = self { shape.present } else { self }
  }

  /// The same structure for a value that may be missing.
  package var orMissing: JSONShape { isOptional ? self : .optional(self) }

  /// The structure of a present scalar, or `nil` for any other structure.
  package var scalar: Scalar? {
    switch present {
    case .scalar(let scalar): scalar
    case .cases(let cases): Scalar(of: cases)
    default: nil
    }
  }

  /// The kind of the values, for predicates.
  package var kind: ValueKind {
    switch present {
    case .scalar(let scalar): scalar.kind
    case .cases(let cases): Scalar(of: cases).kind
    case .object, .map: .composite
    case .any, .list, .optional: .any
    }
  }

  /// The values in human-readable form: `a string`.
  package var words: String {
    switch present {
    case .any, .optional: "any value"
    case .scalar(let scalar): scalar.words
    case .cases(let cases):
      "one of " + cases.prefix(12).map(\.description).joined(separator: ", ")
        + (cases.count > 12 ? ", …" : "")
    case .object, .map: "an object"
    case .list: "a list"
    }
  }
}

extension JSONShape.Scalar {
  /// The type of an enumeration's raw values.
  init(of cases: [PropertyValue]) {
    self = cases.first?.string == nil ? .integer(bits: 64, isSigned: true) : .string
  }

  package var kind: ValueKind {
    switch self {
    case .boolean, .integer, .float, .double, .decimal: .number
    case .string: .text
    case .uuid: .uuid
    case .uri: .uri
    case .date: .date
    case .binary: .binary
    }
  }

  var words: String {
    switch self {
    case .boolean: "true or false"
    case .integer(64, true): "a whole number"
    case .integer(let bits, let isSigned):
      "a whole number of \(bits) bits\(isSigned ? "" : " without a sign")"
    case .float, .double, .decimal: "a number"
    case .string: "a string"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .date: "seconds since 2001-01-01"
    case .binary: "base64"
    }
  }

  var isInteger: Bool { if case .integer = self { true } else { false } }
}
