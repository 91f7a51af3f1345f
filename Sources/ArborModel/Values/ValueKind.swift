/// What an expression gives, as far as it is known.
package enum ValueKind: Sendable, Equatable {
  /// Not known before it is read, or nil.
  case any
  case number
  case text
  case date
  case binary
  case uuid
  case uri
  case object
  case composite
  /// So many elements.
  indirect case list([ValueKind])
  /// Any number of elements of one kind: what a path over to-many relationships gives.
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

  /// Whether this is a list or a collection for certain.
  var isList: Bool {
    switch self {
    case .list, .many: true
    default: false
    }
  }

  /// What the elements have in common; the kind itself of what is no list.
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
