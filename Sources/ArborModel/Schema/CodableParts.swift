/// The parts of a `Codable` type, whose values an attribute keeps as JSON.
///
/// They are found out when a path first asks for them.
package struct CodableParts: Sendable {
  package let typeName: String
  package let id: ObjectIdentifier
  private let findShape: @Sendable () -> CodableShape

  /// - Parameters:
  ///   - typeName: The type's name, for messages.
  ///   - id: The type's identity.
  ///   - shape: Finds out what JSON the type's values are; remembers it where that takes long.
  package init(
    of typeName: String, id: ObjectIdentifier, shape: @escaping @Sendable () -> CodableShape
  ) {
    self.typeName = typeName
    self.id = id
    findShape = shape
  }

  package var shape: CodableShape { findShape() }
}

/// What an attribute's description knows beyond the model.
///
/// A model file stores a `Codable` value as binary, for example, so descriptions that differ only
/// here are equal.
struct PartsAtHand: Sendable, Hashable {
  var parts: CodableParts?
  var unsupportedNumber: String?
  var isMarkedUnique = false

  static func == (left: Self, right: Self) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}

/// The JSON that the values of a `Codable` type are.
package enum CodableShape: Sendable {
  case scalar(CodableScalar)
  /// An object with a member for each key; where something ended the search for them, the key it
  /// ended at.
  case object([String: CodableParts], endsAt: String? = nil)
  /// A list, a dictionary, or what the type does not tell.
  case opaque
}

/// What a text, number or Boolean of JSON stands for in Swift.
package enum CodableScalar: Sendable, Hashable, CaseIterable {
  case boolean, integer, float, double, decimal, string, uuid, uri
  /// Seconds since the reference date, as `JSONEncoder` writes dates unless told otherwise.
  case date
  /// Bytes in Base64.
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
