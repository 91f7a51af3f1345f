/// A path into the JSON of a `Codable` attribute, resolved against the structure of its type.
package struct CodablePath: Sendable {
  /// The keys, outermost first.
  package let keys: [String]
  /// The type of the last key's value, or `nil` if it is an object.
  package let scalar: CodableScalar?
  let keyBytes: [[UInt8]]

  package var kind: ValueKind { scalar?.kind ?? .composite }

  /// Creates a path by resolving names that aren't part of a predicate's text.
  ///
  /// - Precondition: There is at least one name.
  package init(names: [String], of parts: CodableParts) throws(ArborError) {
    try self.init(names.map { ($0, PredicateSite.none) }[...], of: parts)
  }

  /// Creates a path by resolving names.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if a name is unknown, follows a value without
  ///   parts, or leads to a value that a path cannot end with.
  /// - Precondition: There is at least one name.
  init(
    _ names: ArraySlice<(name: String, site: PredicateSite)>, of parts: CodableParts
  ) throws(ArborError) {
    var parts = parts
    for (name, site) in names {
      switch parts.shape {
      case .object(let members, let last):
        guard let member = members[name] else {
          let end = last.map {
            " Parts after \"\($0)\" are unknown, because its type rejects zero and empty values."
          }
          throw site.error(
            "\(parts.typeName) has no part \"\(name)\"."
              + (end ?? NearestName.hint(name, in: members.keys.sorted())))
        }
        parts = member
      case .scalar(let scalar):
        throw site.error(
          "\"\(name)\" follows \(scalar.kind.name), which has no properties. Only objects and "
            + "composites have properties.")
      case .opaque:
        throw site.error(
          "\"\(name)\" follows a value of type \(parts.typeName), whose JSON has no named parts. "
            + "Make it a separate attribute or object.")
      }
    }
    switch parts.shape {
    case .scalar(let scalar): self.scalar = scalar
    case .object: scalar = nil
    case .opaque:
      let (name, site) = names.last ?? ("", .none)
      throw site.error(
        "The part \"\(name)\" is of type \(parts.typeName), which is not a string, number, Boolean "
          + "or date in JSON. Make it a separate attribute or object.")
    }
    keys = names.map(\.name)
    keyBytes = keys.map { Array($0.utf8) }
  }
}
