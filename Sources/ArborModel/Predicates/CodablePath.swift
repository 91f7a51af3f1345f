/// A path into the JSON of an attribute, resolved against the structure of its type as far as that is
/// known.
package struct CodablePath: Sendable {
  /// The keys, outermost first.
  package let keys: [String]
  /// The type of the last key's value, or `nil` if it is an object, a list or unknown.
  package let scalar: JSONShape.Scalar?
  /// The type of the elements if the value is a list of strings, numbers or Booleans, otherwise `nil`.
  package let element: JSONShape.Scalar?
  package let kind: ValueKind
  let keyBytes: [[UInt8]]

  /// Creates a path by resolving names that aren't part of a predicate's text.
  package init(
    names: [String], of attribute: AttributeDescription
  ) throws(ArborError) {
    try self.init(names.map { ($0, PredicateSite.none) }[...], of: attribute)
  }

  /// Creates a path by resolving names.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the attribute's structure doesn't have a part with
  ///   a name, or if a name follows a value without parts.
  init(
    _ names: ArraySlice<(name: String, site: PredicateSite)>, of attribute: AttributeDescription
  ) throws(ArborError) {
    var shape = attribute.anyShape
    var owner = attribute.name
    for (name, site) in names {
      switch shape.present {
      case .object(let members):
        guard let member = members[name] else {
          throw site.error(
            "\(owner) has no part \"\(name)\"." + NearestName.hint(name, in: members.keys.sorted()))
        }
        shape = member
      case .map(let member): shape = member.orMissing
      case .scalar, .cases:
        throw site.error(
          "\"\(name)\" follows \(shape.kind.name), which has no properties. Only objects and "
            + "composites have properties.")
      case .any, .list, .optional: shape = .any
      }
      owner += ".\(name)"
    }
    scalar = shape.scalar
    element = if case .list(let element) = shape.present { element.scalar } else { nil }
    kind = shape.kind
    keys = names.map(\.name)
    keyBytes = keys.map { Array($0.utf8) }
  }
}

extension CodablePath: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.keys == right.keys && left.scalar == right.scalar && left.element == right.element
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}

// MARK: Indexes

extension CodablePath {
  /// The kind of field that an index stores the part as, or `nil` if the part has no order.
  package var fieldKind: FieldKind? { scalar?.fieldKind }

  /// The kind of field that an index stores the elements as, or `nil` if the part isn't a list of
  /// strings, numbers or Booleans.
  package var elementKind: FieldKind? { element?.jsonKind }
}

extension JSONShape.Scalar {
  fileprivate var fieldKind: FieldKind {
    switch self {
    case .uuid: .uuid
    case .uri: .uri
    case .date: .date
    case .binary: .binary
    default: jsonKind
    }
  }

  /// The kind of field with the values that JSON has: strings, numbers and Booleans.
  fileprivate var jsonKind: FieldKind {
    switch self {
    case .boolean: .boolean
    case .integer(let bits, let isSigned): bits < 64 || bits == 64 && isSigned ? .int64 : .decimal
    case .float, .double, .date: .double
    case .decimal: .decimal
    case .string, .uuid, .uri, .binary: .string
    }
  }
}
