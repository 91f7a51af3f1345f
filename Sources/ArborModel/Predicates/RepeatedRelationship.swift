/// The relationship that a `CLOSURE` repeats.
package final class RepeatedRelationship: Sendable {
  package let name: String
  /// The relationship of each concrete entity that has it, by the entity's number.
  package let ofEntities: [UInt16: RelationshipSchema]
  /// The common entity of the first objects and of all that are reached, or `nil` if it is unknown.
  package let entity: EntitySchema?

  init(
    _ name: String, _ ofEntities: [UInt16: RelationshipSchema], reaching entity: EntitySchema?
  ) {
    self.name = name
    self.ofEntities = ofEntities
    self.entity = entity
  }

  /// The entities that declare the relationship and those to which it leads, by index in the schema.
  var entities: Set<Int> {
    Set(ofEntities.values.flatMap { [$0.declaringEntity, $0.destination] })
  }

  /// Appends all objects that are reached from those in a list by following the relationship
  /// repeatedly, each once.
  ///
  /// - Returns: Whether the list is complete. If not, the resolver has interrupted the evaluation.
  func follow(_ objects: inout [ObjectNumber], _ resolver: any RecordResolver) -> Bool {
    var seen = Set(objects)
    var index = 0
    while index < objects.count {
      let object = objects[index]
      index += 1
      guard let relationship = ofEntities[object.entity] else { continue }
      // The work of hashing what was found.
      guard resolver.charge(100) else { return false }
      if relationship.isToMany {
        for member in resolver.members(of: object, relationship) where seen.insert(member).inserted
        {
          objects.append(member)
        }
      } else if let field = relationship.field, let record = resolver.record(of: object),
        let target = record.reference(field), seen.insert(target).inserted
      {
        guard resolver.admitElements(1) else { return false }
        objects.append(target)
      }
    }
    return true
  }
}

/// Binding of `CLOSURE`.
extension PredicateBinding {
  /// Binds `CLOSURE(path.relationship)`: the objects that the path leads to, and all that repeating
  /// the relationship leads to from them.
  mutating func closure(
    _ operand: ExpressionNode, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    guard let (base, name) = operand.split else {
      throw site.error(
        "CLOSURE repeats a relationship. Name one, such as CLOSURE(parent) or CLOSURE($x.children)."
      )
    }
    let start = try bind(base)
    let entity = start.entity ?? constantEntity(start.expression)
    let step =
      if let entity {
        try repeated(name, of: entity, site)
      } else {
        try repeated(name, behind: start, site)
      }
    return Bound(
      .closure(start.expression, step), .many(.object), step.entity, hops: start.hops + 1,
      site: site)
  }

  private func constantEntity(_ expression: BoundExpression) -> EntitySchema? {
    guard case .constant(.objectID(let id)) = expression else { return nil }
    return schema.entity(named: id.entityName)
  }

  private mutating func repeated(
    _ name: KeyPathNode.Part, of entity: EntitySchema, _ site: PredicateSite
  ) throws(ArborError) -> RepeatedRelationship {
    let step = try follow(name, of: entity, site)
    let relationship: RelationshipSchema
    switch step.expression {
    case .collection(let collection): relationship = collection.relationship
    case .path(let path):
      guard case .toOne(let found) = path.leaf else { fallthrough }
      relationship = found
    default:
      throw site.error("CLOSURE repeats a relationship, but this is \(step.kind.name).")
    }
    let target = schema.entities[relationship.destination]
    let owner = schema.entities[relationship.declaringEntity]
    guard target.isKind(of: owner) || owner.isKind(of: target) else {
      throw site.error(
        "CLOSURE repeats a relationship, but \(target.name), to which \(owner.name)."
          + "\(relationship.name) leads, doesn't have it. Use a relationship between objects of one "
          + "entity.")
    }
    // An allow list may permit the name for the first object only.
    if owner !== entity { _ = try follow(name, of: owner, site) }
    var relationships: [UInt16: RelationshipSchema] = [:]
    for entity in schema.entities where entity.isKind(of: owner) && !entity.isAbstract {
      relationships[entity.number] = entity.relationships[relationship.slot]
    }
    return RepeatedRelationship(
      relationship.name, relationships, reaching: common(entity, target))
  }

  private mutating func follow(
    _ name: KeyPathNode.Part, of entity: EntitySchema, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    try within(entity, at: site) { (binding) throws(ArborError) in
      try binding.traverse([name], from: binding.scopes.count - 1)
    }
  }

  /// Returns the relationships with a name, for objects whose entity is known only during evaluation.
  private func repeated(
    _ part: KeyPathNode.Part, behind start: Bound, _ site: PredicateSite
  ) throws(ArborError) -> RepeatedRelationship {
    guard case .name(let name, let nameSite) = part else {
      throw site.error("CLOSURE repeats a relationship. Name one, such as CLOSURE(parent).")
    }
    guard start.kind.element == .any || start.kind.element == .object else {
      throw nameSite.error(
        "\"\(name)\" follows \(start.kind.element.name), which has no relationships.")
    }
    guard nameSite.text?.allowed == nil else {
      throw nameSite.error(
        "\"\(name)\" follows an object whose entity is unknown, so the name cannot be checked "
          + "against the allowed properties. Remove the name.")
    }
    var relationships: [UInt16: RelationshipSchema] = [:]
    for entity in schema.entities where !entity.isAbstract {
      guard case .relationship(let relationship)? = entity.property(named: name) else { continue }
      relationships[entity.number] = relationship
    }
    guard !relationships.isEmpty else {
      throw nameSite.error("No entity has a relationship \"\(name)\".")
    }
    return RepeatedRelationship(name, relationships, reaching: nil)
  }

  /// Returns the nearest entity that both entities are or inherit from, or `nil` if there isn't one.
  private func common(_ one: EntitySchema, _ other: EntitySchema) -> EntitySchema? {
    schema.entities.filter { one.isKind(of: $0) && other.isKind(of: $0) }
      .max { $0.lineage.count < $1.lineage.count }
  }
}

extension ExpressionNode {
  /// The path or expression before the last name, and that name, or `nil` if the expression doesn't
  /// end with one.
  fileprivate var split: (base: ExpressionNode, name: KeyPathNode.Part)? {
    func split(_ path: KeyPathNode) -> (KeyPathNode, KeyPathNode.Part)? {
      guard let last = path.parts.last else { return nil }
      if case .collectionOperator = last { return nil }
      return (KeyPathNode(Array(path.parts.dropLast()), site: path.site), last)
    }
    switch self {
    case .path(let path): return split(path).map { (.path($0), $1) }
    case .member(let base, let path): return split(path).map { (.member(of: base, $0), $1) }
    default: return nil
    }
  }
}

/// Evaluation of `CLOSURE`.
extension PredicateCompilation {
  /// Returns a reader of the objects of a closure, each once.
  func closure(
    from base: BoundExpression, _ step: RepeatedRelationship
  ) throws(ArborError) -> ObjectsReader {
    let start = try objects(base)
    if base.isConstant, remembers {
      let (memo, read) = (
        EvaluationMemo<[ObjectNumber]>(), try forgetting.closure(from: base, step)
      )
      let every = ObjectNumber(rawValue: 0)
      return { record, number, resolver in
        guard let resolver else { return read(record, number, nil) }
        return memo.outcome(of: every, resolver) {
          $0.count + 1
        } _: {
          read(record, number, resolver)
        }
      }
    }
    return { record, number, resolver in
      var objects = start(record, number, resolver).distinct
      guard let resolver else { return objects }
      let count = objects.count
      guard step.follow(&objects, resolver) else { return [] }
      // What is found is counted while it is held.
      guard resolver.hold(objects.count - count) else { return [] }
      resolver.release(objects.count - count)
      return objects
    }
  }
}
