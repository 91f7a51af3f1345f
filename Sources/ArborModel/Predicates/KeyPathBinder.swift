/// Resolves key paths: each name but the last a to-one relationship, the last what is read.
package enum KeyPathBinder {
  /// Resolves names separated by dots.
  ///
  /// - Throws: ``ArborError`` `unknownName` where a name is unknown, `invalidArgument` where the
  ///   path cannot be followed.
  package static func bind(
    _ keyPath: String, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPath {
    let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
      .map { (name: String($0), site: PredicateSite.none) }
    do {
      return try resolve(names, from: entity, in: schema)
    } catch {
      let code: ArborError.Code = error.isUnknownName ? .unknownName : .invalidArgument
      throw ArborError(code, error.message).with(entity: error.entity.name, keyPath: keyPath)
    }
  }

  /// Resolves the path of a predicate.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` with the place of the name.
  package static func bind(
    _ path: KeyPathNode, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPath {
    var names: [(name: String, site: PredicateSite)] = []
    for part in path.parts {
      switch part {
      case .name(let name, let site): names.append((name, site))
      case .collectionOperator(let name, let site):
        throw site.error("\(name) is not supported; state the condition without it.")
      case .argument(_, let site):
        throw site.error("%K has no argument; give the key path as a text.")
      }
    }
    do {
      return try resolve(names, from: entity, in: schema)
    } catch {
      throw error.site.error(error.message)
        .with(entity: error.entity.name, keyPath: names.map(\.name).joined(separator: "."))
    }
  }

  /// Why a path leads nowhere.
  private struct Problem: Error {
    let entity: EntitySchema
    let site: PredicateSite
    let isUnknownName: Bool
    let message: String
  }

  private static func resolve(
    _ names: [(name: String, site: PredicateSite)], from entity: EntitySchema,
    in schema: ModelSchema
  ) throws(Problem) -> BoundPath {
    var hops: [RelationshipSchema] = []
    var current = entity
    for (index, (name, site)) in names.enumerated() {
      let isLast = index == names.count - 1
      func problem(_ message: String, isUnknownName: Bool = false) -> Problem {
        Problem(entity: current, site: site, isUnknownName: isUnknownName, message: message)
      }
      switch current.property(named: name) {
      case .attribute(let attribute):
        if isLast { return BoundPath(hops: hops, leaf: .attribute(attribute)) }
        throw problem(
          "\(current.name).\(name) is an attribute; no further name can follow it in a key path.")
      case .relationship(let relationship):
        guard !relationship.isToMany else {
          throw problem(
            "\(current.name).\(name) is a to-many relationship; "
              + "a key path here goes through to-one relationships only.")
        }
        if isLast { return BoundPath(hops: hops, leaf: .toOne(relationship)) }
        hops.append(relationship)
        current = schema.entities[relationship.destination]
      case nil:
        if isLast, name == "objectID" { return object(at: hops) }
        if name == "entity", index == names.count - 2, names[index + 1].name == "name" {
          return BoundPath(hops: hops, leaf: .entityName)
        }
        throw problem(unknown(name, in: current), isUnknownName: true)
      }
    }
    return object(at: hops)
  }

  /// The object at the end of relationships is what the last of them holds.
  private static func object(at hops: [RelationshipSchema]) -> BoundPath {
    guard let last = hops.last else { return BoundPath(leaf: .object) }
    return BoundPath(hops: hops.dropLast(), leaf: .toOne(last))
  }

  private static func unknown(_ name: String, in entity: EntitySchema) -> String {
    let names = entity.propertyNames
    let start = "There is no property \"\(name)\" in \(entity.name); "
    if let nearest = NearestName.of(name, in: names) {
      return start + "did you mean \"\(nearest)\"?"
    }
    let shown = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    return start + (names.isEmpty ? "it has none." : "it has \(shown).")
  }
}
