/// A path into the JSON of an attribute, resolved against the structure of its type as far as that is
/// known.
package struct CodablePath: Sendable {
  /// The keys, outermost first.
  package let keys: [String]
  /// The type of the last key's value, or `nil` if it is an object, a list or unknown.
  package let scalar: CodableScalar?
  package let kind: ValueKind
  let keyBytes: [[UInt8]]

  /// Creates a path by resolving names that aren't part of a predicate's text.
  ///
  /// - Precondition: There is at least one name.
  package init(names: [String], of parts: CodableParts?) throws(ArborError) {
    try self.init(names.map { ($0, PredicateSite.none) }[...], of: parts)
  }

  /// Creates a path by resolving names.
  ///
  /// - Parameter parts: The structure of the attribute's type, or `nil` if it is unknown.
  /// - Throws: ``ArborError`` `invalidPredicate` if a name is unknown or follows a value without
  ///   parts.
  /// - Precondition: There is at least one name.
  init(
    _ names: ArraySlice<(name: String, site: PredicateSite)>, of parts: CodableParts?
  ) throws(ArborError) {
    var parts = parts
    for (name, site) in names {
      guard let known = parts else { break }
      switch known.shape {
      case .object(let members, let last):
        guard let member = members[name] else {
          let end = last.map {
            " Parts after \"\($0)\" are unknown, because its type rejects zero and empty values."
          }
          throw site.error(
            "\(known.typeName) has no part \"\(name)\"."
              + (end ?? NearestName.hint(name, in: members.keys.sorted())))
        }
        parts = member
      case .scalar(let scalar):
        throw site.error(
          "\"\(name)\" follows \(scalar.kind.name), which has no properties. Only objects and "
            + "composites have properties.")
      case .opaque: parts = nil
      }
    }
    switch parts?.shape {
    case .scalar(let scalar):
      self.scalar = scalar
      kind = scalar.kind
    case .object:
      scalar = nil
      kind = .composite
    case .opaque, nil:
      scalar = nil
      kind = .any
    }
    keys = names.map(\.name)
    keyBytes = keys.map { Array($0.utf8) }
  }
}
