/// The kind of an expression's value, as far as it is known before evaluation.
package enum ValueKind: Sendable, Equatable {
  /// Unknown before evaluation, or `nil`.
  case any
  case number
  case text
  case date
  case binary
  case uuid
  case uri
  case object
  case composite
  /// A list with elements of the given kinds.
  indirect case list([ValueKind])
  /// Any number of elements of one kind: the value of a path with to-many relationships.
  indirect case many(ValueKind)

  package init(_ value: PropertyValue) {
    self =
      switch value {
      case .null: .any
      case .boolean, .integer, .double, .decimal: .number
      case .string: .text
      case .date: .date
      case .binary: .binary
      case .uuid: .uuid
      case .uri: .uri
      case .objectID: .object
      case .list(let values): .list(values.map(ValueKind.init))
      case .composite: .composite
      }
  }

  package var name: String {
    switch self {
    case .any: "any value"
    case .number: "a number"
    case .text: "a string"
    case .date: "a date"
    case .binary: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .object: "an object"
    case .list: "a list"
    case .composite: "a composite"
    case .many: "a collection"
    }
  }

  var isOrdered: Bool {
    switch self {
    case .object, .list, .composite, .many: false
    default: true
    }
  }

  /// Whether the value is known to be a list or a collection.
  var isList: Bool {
    switch self {
    case .list, .many: true
    default: false
    }
  }

  /// The common kind of the elements, or the kind itself if it is not a list.
  var element: ValueKind {
    switch self {
    case .many(let element): element
    case .list(let elements): Self.common(elements)
    default: self
    }
  }

  static func common(_ kinds: [ValueKind]) -> ValueKind {
    guard let first = kinds.first else { return .any }
    return kinds.allSatisfy { $0 == first } ? first : .any
  }
}
