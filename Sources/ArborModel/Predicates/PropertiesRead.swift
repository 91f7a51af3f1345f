/// Which properties a request reads, of the objects that it is about and of others, so that a
/// change of anything else is known not to concern it.
package struct PropertiesRead: Sendable {
  /// Properties of one entity, by their slots.
  package struct Slots: Sendable, Hashable {
    package var attributes: Set<Int> = []
    package var relationships: Set<Int> = []
    /// Whether any property may be read, or it matters which objects there are.
    package var isAll = false
  }

  /// What is read of an object to evaluate and to order it.
  package private(set) var own = Slots()
  /// What is read of other objects, by the entities that they are declared to be of.
  package private(set) var others: [Int: Slots] = [:]
  /// Whether objects are read whose entity shows only when they are there.
  package private(set) var readsAnything = false
  /// Whether two questions about one object may have two answers: the time or chance decide.
  package private(set) var isCapricious = false

  package init() {}

  package mutating func add(_ node: BoundNode) {
    _ = node.contains { expression, depth in
      add(expression, depth)
      return false
    }
  }

  package mutating func add(_ key: BoundSortKey) {
    if let path = key.path { add(path, isOwn: true) }
    _ = key.expression?.contains { expression, depth in
      add(expression, depth)
      return false
    }
  }

  /// Whether anything but the record of the object itself is read.
  package var readsOthers: Bool { !others.isEmpty || readsAnything }

  private mutating func add(_ expression: BoundExpression, _ depth: Int) {
    switch expression {
    case .path(let path): add(path, isOwn: path.scope == depth)
    case .collection(let collection):
      follow(collection.hops, isOwn: collection.scope == depth)
      read(collection.hops, isOwn: collection.scope == depth) { slots in
        slots.relationships.insert(collection.relationship.slot)
      }
      others[collection.target.index, default: Slots()].isAll = true
    case .each(_, let entity, _), .follow(_, let entity, _), .subquery(_, let entity, _):
      others[entity.index, default: Slots()].isAll = true
    case .part(let base, _, _): if !base.isOfComposite { readsAnything = true }
    case .custom, .call(.now, _), .call(.random, _), .call(.randomn, _): isCapricious = true
    default: break
    }
  }

  private mutating func add(_ path: BoundPath, isOwn: Bool) {
    follow(path.hops, isOwn: isOwn)
    read(path.hops, isOwn: isOwn) { slots in
      switch path.leaf {
      case .attribute(let attribute): slots.attributes.insert(attribute.slot)
      case .toOne(let relationship): slots.relationships.insert(relationship.slot)
      // Neither ever changes.
      case .object, .entityName: break
      }
    }
  }

  /// Adds the relationships that lead from object to object.
  private mutating func follow(_ hops: [RelationshipSchema], isOwn: Bool) {
    for hopIndex in hops.indices {
      read(Array(hops[..<hopIndex]), isOwn: isOwn) { $0.relationships.insert(hops[hopIndex].slot) }
    }
  }

  /// Changes what is read of the object at the end of hops. Candidates of inner scopes are read
  /// altogether, which the expression that opens the scope has said.
  private mutating func read(
    _ hops: [RelationshipSchema], isOwn: Bool, _ change: (inout Slots) -> Void
  ) {
    if let last = hops.last {
      change(&others[last.destination, default: Slots()])
    } else if isOwn {
      change(&own)
    }
  }

  // MARK: As bits

  /// What is read of the objects of a concrete entity that the request is about.
  package func ownBits(of entity: EntitySchema) -> UInt64 {
    readsAnything ? .max : own.bits(of: entity)
  }

  /// What is read of a concrete entity's objects to evaluate or to order others.
  package func otherBits(of entity: EntitySchema) -> UInt64 {
    if readsAnything { return .max }
    return entity.lineage.reduce(0) { $0 | (others[$1]?.bits(of: entity) ?? 0) }
  }
}

extension PropertiesRead.Slots {
  /// The properties as bits of a set of changed properties; relationships that the store derives
  /// have none, since the members' side changes.
  fileprivate func bits(of entity: EntitySchema) -> UInt64 {
    if isAll { return .max }
    var bits: UInt64 = 0
    for slot in attributes {
      bits |= EntitySchema.changeBit(ofField: entity.attributes[slot].fieldIndex)
    }
    for slot in relationships { bits |= entity.changeBits(of: entity.relationships[slot]) }
    return bits
  }
}
