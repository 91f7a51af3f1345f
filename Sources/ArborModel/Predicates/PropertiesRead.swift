/// The properties that a request reads, of the requested objects and of related ones. Changes of
/// other properties don't affect the request.
package struct PropertiesRead: Sendable {
  /// Properties of one entity, by slot.
  package struct Slots: Sendable, Hashable {
    package var attributes: Set<Int> = []
    package var relationships: Set<Int> = []
    /// Whether any property may be read, or whether insertions and deletions matter.
    package var isAll = false
  }

  /// The properties of the objects at the end of a path.
  package struct Related: Sendable {
    /// The to-one relationships from the requested object, at least one.
    package let hops: [RelationshipSchema]
    fileprivate var slots = Slots()

    /// Returns the change bits of the properties that are read from an object of a concrete entity.
    package func bits(of entity: EntitySchema) -> UInt64 {
      guard let last = hops.last, entity.lineage.contains(last.destination) else { return 0 }
      return slots.bits(of: entity)
    }
  }

  /// The properties of the requested objects that are read to filter and sort them.
  package private(set) var own = Slots()
  /// The properties that are read along to-one relationships from the requested object.
  package private(set) var related: [Related] = []
  /// The properties of other objects that are read, by declared entity.
  package private(set) var others: [Int: Slots] = [:]
  /// Whether evaluation reads objects whose entity isn't known in advance.
  package private(set) var readsAnything = false
  /// Whether evaluating an object twice can have different results, because of the time or random
  /// numbers.
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

  /// Whether anything except the object's own record is read.
  package var readsOthers: Bool { !related.isEmpty || !others.isEmpty || readsAnything }

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
    case .closure(_, let step):
      for entity in step.entities { others[entity, default: Slots()].isAll = true }
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

  /// Records the relationships along a path.
  private mutating func follow(_ hops: [RelationshipSchema], isOwn: Bool) {
    for hopIndex in hops.indices {
      read(Array(hops[..<hopIndex]), isOwn: isOwn) { $0.relationships.insert(hops[hopIndex].slot) }
    }
  }

  /// Updates the recorded properties of the object at the end of the hops. Candidates of inner
  /// scopes need no update, because the expression that opens the scope has recorded all of their
  /// properties.
  private mutating func read(
    _ hops: [RelationshipSchema], isOwn: Bool, _ change: (inout Slots) -> Void
  ) {
    switch (hops.last, isOwn) {
    case (nil, true): change(&own)
    case (nil, false): break
    case (_?, true): change(&related[place(of: hops)].slots)
    case (let last?, false): change(&others[last.destination, default: Slots()])
    }
  }

  /// Returns the index of the properties at the end of a path, which are added if necessary.
  private mutating func place(of hops: [RelationshipSchema]) -> Int {
    let known = related.firstIndex { related in
      related.hops.elementsEqual(hops) {
        $0.slot == $1.slot && $0.declaringEntity == $1.declaringEntity
      }
    }
    if let known { return known }
    related.append(Related(hops: hops))
    return related.count - 1
  }

  // MARK: Change bits

  /// Returns the change bits of the properties that are read from requested objects of a concrete
  /// entity.
  package func ownBits(of entity: EntitySchema) -> UInt64 {
    readsAnything ? .max : own.bits(of: entity)
  }

  /// Returns the change bits of the properties that are read from objects of a concrete entity
  /// otherwise than along to-one relationships.
  package func otherBits(of entity: EntitySchema) -> UInt64 {
    if readsAnything { return .max }
    return entity.lineage.reduce(0) { $0 | (others[$1]?.bits(of: entity) ?? 0) }
  }
}

extension PropertiesRead.Slots {
  /// Returns the change bits of the properties. Derived relationships have none, because a change
  /// is recorded on the members' side.
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
