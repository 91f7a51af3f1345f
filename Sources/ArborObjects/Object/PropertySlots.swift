package import ArborModel

/// A property whose name has been looked up once, for many objects of an entity and of those that
/// inherit from it.
///
/// Access by name looks the name up and copies its description each time; this costs a load.
package final class PropertySlots: Sendable {
  package let name: String
  /// The property's slot by the index of an object's entity in the model; -1 where it has none.
  private let slots: [Int]
  /// Of a relationship: the slot of its inverse among those of its destination; else -1.
  let inverseSlot: Int

  /// Looks a property of an entity up.
  ///
  /// - Throws: ``ArborError`` `unknownName`.
  init(_ name: String, of entity: EntitySchema, in schema: ModelSchema) throws(ArborError) {
    self.name = name
    var slots = Array(repeating: -1, count: schema.entities.count)
    var inverseSlot = -1
    for index in entity.concreteFamily + [entity.index] {
      switch schema.entities[index].property(named: name) {
      case .attribute(let attribute): slots[index] = attribute.slot
      case .relationship(let relationship):
        slots[index] = relationship.slot
        inverseSlot = relationship.inverseSlot
      case nil: throw entity.unknownProperty(name)
      }
    }
    self.slots = slots
    self.inverseSlot = inverseSlot
  }

  @inline(__always)
  func slot(in entity: EntitySchema) -> Int { slots[entity.index] }
}

/// Values and links by the slots of their properties, as the methods by name have them and with
/// what those throw.
///
/// - Precondition: The object is of the entity that the slots were looked up for, and the property
///   is an attribute, a to-one or a to-many relationship as the method says.
extension ManagedObject {
  package final func value(at slots: PropertySlots) -> Value {
    let slot = slots.slot(in: binding.entity)
    if binding.isObserved { owner?.observation?.access(self, .attribute(slot)) }
    return value(of: binding.entity.attributes[slot].field, in: currentRecord)
  }

  /// Sets an attribute that is not derived to a value of the form that it keeps.
  ///
  /// - Throws: ``ArborError`` as ``setValue(_:forKey:)-(Value,_)``.
  package final func setValue(_ value: Value, at slots: PropertySlots) throws(ArborError) {
    let slot = slots.slot(in: binding.entity)
    try prepareForChange(of: slot)
    let field = binding.entity.attributes[slot].field
    var fits = false
    write { buffer, allocator in fits = buffer.set(field, value, allocator: allocator) }
    // A change of a deleted object has no effect, and is no mistake.
    guard fits || change?.kind == .deleted else { throw mismatch(slots.name, value) }
  }

  /// Whether the object's entity has the property, where the slots are those of a subentity.
  package final func has(_ slots: PropertySlots) -> Bool { slots.slot(in: binding.entity) >= 0 }

  final func relation(at slots: PropertySlots) -> Relation {
    binding.relations[slots.slot(in: binding.entity)]
  }

  package final func object(at slots: PropertySlots) -> ManagedObject? {
    object(of: relation(at: slots))
  }

  package final func setObject(
    _ target: ManagedObject?, at slots: PropertySlots
  ) throws(ArborError) {
    try setObject(target, of: relation(at: slots))
  }

  package final func objects(at slots: PropertySlots) -> [ManagedObject] {
    objects(of: relation(at: slots))
  }

  package final func setObjects(
    _ members: [ManagedObject], at slots: PropertySlots
  ) throws(ArborError) {
    try setObjects(members, of: relation(at: slots))
  }

  package final func add(_ member: ManagedObject, at slots: PropertySlots) throws(ArborError) {
    try add(member, to: relation(at: slots))
  }

  package final func remove(_ member: ManagedObject, at slots: PropertySlots) throws(ArborError) {
    try remove(member, from: relation(at: slots))
  }

  package final func contains(_ member: ManagedObject, at slots: PropertySlots) -> Bool {
    contains(member, in: relation(at: slots))
  }

  package final func count(at slots: PropertySlots) -> Int { count(of: relation(at: slots)) }

  /// The objects whose relationship leads to this one.
  package final func objects(leadingHereBy slots: PropertySlots) -> [ManagedObject] {
    let relation = binding.relations[slots.inverseSlot]
    return relation.isToMany ? objects(of: relation) : object(of: relation).map { [$0] } ?? []
  }

  /// Whether objects other than an owner and its present members refer to this member: by the
  /// owner's relationship, as one of their members in a to-many relationship, or by a relationship
  /// without an inverse.
  ///
  /// - Parameters:
  ///   - owner: An object whose relationship leads to this one.
  ///   - slots: The relationship.
  ///   - members: All objects that it leads to.
  package final func isShared(
    by owner: ManagedObject, at slots: PropertySlots, members: Set<ManagedObject>
  ) -> Bool {
    for relation in binding.relations {
      if relation.slot == slots.inverseSlot {
        if relation.isToMany, count(of: relation) > 1 { return true }
        continue
      }
      guard relation.isInverseToMany || relation.isHidden else { continue }
      if relation.isToMany {
        let holders = count(of: relation)
        if holders > members.count + 1 { return true }
        guard holders > 0 else { continue }
        let isHeld = objects(of: relation).contains { $0 !== owner && !members.contains($0) }
        if isHeld { return true }
      } else if let holder = object(of: relation), holder !== owner, !members.contains(holder) {
        return true
      }
    }
    return false
  }
}
