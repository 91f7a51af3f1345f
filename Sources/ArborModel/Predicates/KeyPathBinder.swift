/// Resolution of key paths into to-one relationships and the property to read at their end.
package enum KeyPathBinder {
  /// Resolves dot-separated names.
  ///
  /// - Throws: ``ArborError`` `unknownName` if a name is unknown, or `invalidArgument` if the path
  ///   cannot be followed.
  package static func bind(
    _ keyPath: String, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPath {
    let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
      .map { (name: String($0), site: PredicateSite.none) }
    do {
      return try single(names, from: entity, in: schema)
    } catch {
      let code: ArborError.Code = error.isUnknownName ? .unknownName : .invalidArgument
      throw ArborError(code, error.message).with(entity: error.entity.name, keyPath: keyPath)
    }
  }

  /// Returns whether a path continues after an attribute whose values may have parts.
  static func leadsIntoParts(
    _ keyPath: String, of entity: EntitySchema, in schema: ModelSchema
  ) -> Bool {
    let names = keyPath.split(separator: ".").map { (name: String($0), site: PredicateSite.none) }
    guard let start = try? beginning(of: names[...], from: entity, in: schema),
      case .leaf(.attribute(let attribute)) = start.end
    else { return false }
    return start.count < names.count
      && (attribute.field.kind == .tagged || attribute.field.kind == .json)
  }

  struct Problem: Error {
    let entity: EntitySchema
    let site: PredicateSite
    let isUnknownName: Bool
    let message: String
  }

  /// The longest prefix of a path that leads to one value.
  struct Beginning {
    enum End {
      case leaf(BoundPath.Leaf)
      case toMany(RelationshipSchema)
    }

    let hops: [RelationshipSchema]
    let end: End
    let entity: EntitySchema
    /// The number of names in the prefix.
    let count: Int

    /// Returns the entity of the object that the prefix leads to, or `nil` if it leads to another
    /// value.
    func target(in schema: ModelSchema) -> EntitySchema? {
      switch end {
      case .leaf(.object): entity
      case .leaf(.toOne(let relationship)), .toMany(let relationship):
        schema.entities[relationship.destination]
      case .leaf: nil
      }
    }
  }

  private static func single(
    _ names: [(name: String, site: PredicateSite)], from entity: EntitySchema,
    in schema: ModelSchema
  ) throws(Problem) -> BoundPath {
    let start = try beginning(of: names[...], from: entity, in: schema)
    let owner = start.entity.name
    switch start.end {
    case .leaf(let leaf) where start.count == names.count:
      return BoundPath(hops: start.hops, leaf: leaf)
    case .leaf:
      let (name, site) = names[start.count - 1]
      throw Problem(
        entity: start.entity, site: site, isUnknownName: false,
        message: start.entity.whyPathsEnd(at: name))
    case .toMany(let relationship):
      throw Problem(
        entity: start.entity, site: names[start.count - 1].site, isUnknownName: false,
        message: "\(owner).\(relationship.name) is a to-many relationship. This key path can "
          + "follow only to-one relationships.")
    }
  }

  /// Follows names as long as they lead to a single value: up to the end of the path, an attribute
  /// or a to-many relationship.
  static func beginning(
    of names: ArraySlice<(name: String, site: PredicateSite)>, from entity: EntitySchema,
    in schema: ModelSchema
  ) throws(Problem) -> Beginning {
    var hops: [RelationshipSchema] = []
    var current = entity
    for (index, (name, site)) in names.enumerated() {
      func found(_ end: Beginning.End, count: Int = 1) -> Beginning {
        Beginning(hops: hops, end: end, entity: current, count: index + count)
      }
      if let refusal = site.text?.allowed?.refusal(of: name, in: current, schema) {
        throw Problem(entity: current, site: site, isUnknownName: true, message: refusal)
      }
      switch current.property(named: name) {
      case .attribute(let attribute): return found(.leaf(.attribute(attribute)))
      case .relationship(let relationship):
        if relationship.isToMany { return found(.toMany(relationship)) }
        hops.append(relationship)
        current = schema.entities[relationship.destination]
      case nil:
        if name == "objectID", index + 1 == names.count {
          return object(at: hops, of: current, entity, index + 1, schema)
        }
        if name == "entity", index + 1 < names.count,
          names[names.startIndex + index + 1].name == "name"
        {
          return found(.leaf(.entityName), count: 2)
        }
        throw Problem(
          entity: current, site: site, isUnknownName: true, message: unknown(name, in: current))
      }
    }
    return object(at: hops, of: current, entity, names.count, schema)
  }

  /// Returns the object at the end of the hops, as the value of the last one.
  private static func object(
    at hops: [RelationshipSchema], of current: EntitySchema, _ start: EntitySchema, _ count: Int,
    _ schema: ModelSchema
  ) -> Beginning {
    guard let last = hops.last else {
      return Beginning(hops: [], end: .leaf(.object), entity: current, count: count)
    }
    let before = hops.dropLast()
    let owner = before.last.map { schema.entities[$0.destination] } ?? start
    return Beginning(hops: Array(before), end: .leaf(.toOne(last)), entity: owner, count: count)
  }

  private static let aggregates: Set = ["count", "sum", "avg", "min", "max"]

  private static func unknown(_ name: String, in entity: EntitySchema) -> String {
    let names = entity.propertyNames
    let start = "\(entity.name) has no property \"\(name)\". "
    if aggregates.contains(name), NearestName.of(name, in: names) == nil {
      return start + "Write @\(name) to aggregate the members of a to-many relationship."
    }
    if let nearest = NearestName.of(name, in: names) {
      return start + "Did you mean \"\(nearest)\"?"
    }
    let shown = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    return start + (names.isEmpty ? "It has no properties." : "It has \(shown).")
  }
}

extension EntitySchema {
  func whyPathsEnd(at name: String) -> String {
    guard case .attribute(let attribute) = property(named: name) else {
      return "\(self.name).\(name) cannot be followed by another name. End the path there."
    }
    switch attribute.description.type {
    case .binary, .transformable:
      return
        "\(self.name).\(name) is a binary attribute, whose parts the model doesn't describe. Make "
        + "it a composite or JSON attribute, or a separate object."
    case .composite, .json, .undefined:
      return "\(self.name).\(name) is an attribute, whose parts cannot be addressed here. End the "
        + "path there."
    default:
      return "\(self.name).\(name) is an attribute and cannot be followed by another name. End the "
        + "path there."
    }
  }
}
