/// The structure of a `Codable` type whose values an attribute stores as JSON.
///
/// The structure is determined only when a path first needs it.
package struct CodableParts: Sendable {
  package let typeName: String
  package let id: ObjectIdentifier
  private let findShape: @Sendable () -> CodableShape

  /// - Parameters:
  ///   - typeName: The type's name, for messages.
  ///   - id: The type's identity.
  ///   - shape: A closure that determines the JSON structure of the type's values. It should cache
  ///     the structure if determining it is slow.
  package init(
    of typeName: String, id: ObjectIdentifier, shape: @escaping @Sendable () -> CodableShape
  ) {
    self.typeName = typeName
    self.id = id
    findShape = shape
  }

  package var shape: CodableShape { findShape() }
}

/// Properties of an attribute's description that aren't part of the model.
///
/// They are ignored when descriptions are compared, because a model file cannot represent them.
struct PartsAtHand: Sendable, Hashable {
  var parts: CodableParts?
  var rawCases: RawCases?
  var unsupportedNumber: String?
  var isMarkedUnique = false

  static func == (left: Self, right: Self) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}

/// The JSON structure of the values of a `Codable` type.
package enum CodableShape: Sendable {
  case scalar(CodableScalar)
  /// An object with a member for each key. If the search for keys ended early, `endsAt` is the key
  /// at which it ended.
  case object([String: CodableParts], endsAt: String? = nil)
  /// An array, a dictionary, or a type that doesn't reveal its structure.
  case opaque
}

/// The Swift type represented by a JSON string, number or Boolean.
package enum CodableScalar: Sendable, Hashable, CaseIterable {
  case boolean, integer, float, double, decimal, string, uuid, uri
  /// Seconds since the reference date, the default of `JSONEncoder`.
  case date
  /// Base64-encoded bytes.
  case binary

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
}
