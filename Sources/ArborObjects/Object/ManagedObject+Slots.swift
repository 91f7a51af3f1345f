package import ArborModel

/// Access to values and links by the slots of ``EntitySchema``, for code that resolves a property
/// once for many objects. Behaves like the methods that take names, including errors.
///
/// An inherited property has the same slot in every subentity.
///
/// - Precondition: The object is of the entity that the slot belongs to, and the property has the
///   kind that the method requires.
extension ManagedObject {
  package final func value(atSlot slot: Int) -> PropertyValue {
    if binding.isObserved { session?.observation?.access(self, .attribute(slot)) }
    return value(of: binding.entity.attributes[slot].field, in: currentRecord)
  }

  /// Sets a non-derived attribute to a value in its stored form.
  ///
  /// - Throws: The same errors as ``setValue(_:forKey:)-(PropertyValue,_)``.
  package final func setValue(_ value: PropertyValue, atSlot slot: Int) throws(ArborError) {
    let attribute = binding.entity.attributes[slot]
    try checkCase(value, of: attribute)
    try prepareForChange(of: slot)
    let field = attribute.field
    var fits = false
    write { buffer, allocator in fits = buffer.set(field, value, allocator: allocator) }
    // Changing a deleted object has no effect and is not an error.
    guard fits || change?.kind == .deleted else {
      throw mismatch(attribute.name, value)
    }
  }

  package final var entitySchema: EntitySchema { binding.entity }

  package final func isKind(of entity: EntitySchema) -> Bool {
    binding.entity === entity || binding.entity.isKind(of: entity)
  }

  package final func object(atSlot slot: Int) -> ManagedObject? {
    object(of: binding.entity.relationships[slot])
  }

  package final func setObject(
    _ target: ManagedObject?, atSlot slot: Int
  ) throws(ArborError) {
    try setObject(target, of: binding.entity.relationships[slot])
  }

  package final func objects(atSlot slot: Int) -> [ManagedObject] {
    objects(of: binding.entity.relationships[slot])
  }

  package final func setObjects(
    _ members: [ManagedObject], atSlot slot: Int
  ) throws(ArborError) {
    try setObjects(members, of: binding.entity.relationships[slot])
  }

  package final func add(_ member: ManagedObject, atSlot slot: Int) throws(ArborError) {
    try add(member, to: binding.entity.relationships[slot])
  }

  package final func remove(_ member: ManagedObject, atSlot slot: Int) throws(ArborError) {
    try remove(member, from: binding.entity.relationships[slot])
  }

  package final func contains(_ member: ManagedObject, atSlot slot: Int) -> Bool {
    contains(member, in: binding.entity.relationships[slot])
  }

  package final func count(atSlot slot: Int) -> Int {
    count(of: binding.entity.relationships[slot])
  }

  /// Returns the objects whose relationship points to this one.
  ///
  /// - Parameter inverseSlot: The slot of that relationship's inverse, which may be hidden.
  package final func objects(leadingHereByInverse inverseSlot: Int) -> [ManagedObject] {
    let relationship = binding.entity.relationships[inverseSlot]
    return relationship.isToMany
      ? objects(of: relationship) : object(of: relationship).map { [$0] } ?? []
  }

  /// Returns whether this member is referenced by any object other than an owner and the owner's
  /// current members: through the same relationship as the owner's, through another to-many
  /// relationship, or through a relationship without an inverse.
  ///
  /// - Parameters:
  ///   - owner: An object whose relationship points to this one.
  ///   - inverseSlot: The slot of that relationship's inverse.
  ///   - members: All objects the relationship points to.
  package final func isShared(
    by owner: ManagedObject, inverseSlot: Int, members: Set<ManagedObject>
  ) -> Bool {
    for relationship in binding.entity.relationships {
      if relationship.slot == inverseSlot {
        if relationship.isToMany, count(of: relationship) > 1 { return true }
        continue
      }
      guard relationship.isInverseToMany || relationship.isHidden else { continue }
      if relationship.isToMany {
        let holders = count(of: relationship)
        if holders > members.count + 1 { return true }
        guard holders > 0 else { continue }
        let isHeld = objects(of: relationship).contains { $0 !== owner && !members.contains($0) }
        if isHeld { return true }
      } else if let holder = object(of: relationship), holder !== owner, !members.contains(holder) {
        return true
      }
    }
    return false
  }
}
