internal import ArborModel
internal import ArborStore

/// From numbers to objects and bindings. Numbers that were read from the file may be of no entity,
/// or of one that nobody expects, where the file was forged.
extension ManagedObjectContext {
  /// The object of a number: the registered one, or a fault. Never fails: nil where the number is
  /// of no entity, and the context remembers the error.
  @inline(__always)
  func fault(_ number: ObjectNumber) -> ManagedObject? {
    if let object = registry.object(number) { return object }
    return makeFault(number)
  }

  @inline(never)
  private func makeFault(_ number: ObjectNumber) -> ManagedObject? {
    do throws(StoreError) { return try make(number, nil, nil) } catch {
      note(ArborError(error, in: store.file))
      return nil
    }
  }

  /// The object that a to-one relationship of an object leads to: the registered one, or a fault.
  /// Never fails: nil where the number is of no entity that the relationship leads to, and the
  /// context remembers the error.
  @inline(__always)
  func target(_ number: ObjectNumber, of owner: ManagedObject, _ slot: Int) -> ManagedObject? {
    if let object = registry.object(number) { return object }
    return makeTarget(number, of: owner, slot)
  }

  @inline(never)
  private func makeTarget(
    _ number: ObjectNumber, of owner: ManagedObject, _ slot: Int
  ) -> ManagedObject? {
    admits(number, of: owner, owner.binding.relation(slot)) ? makeFault(number) : nil
  }

  /// Whether a number is of an entity that a relationship leads to; otherwise the file was forged,
  /// and the context remembers the error.
  @inline(__always)
  func admits(_ target: ObjectNumber, of owner: ManagedObject, _ relation: Relation) -> Bool {
    relation.leads(to: target) || refuse(target, of: owner, relation)
  }

  @inline(never)
  private func refuse(
    _ target: ObjectNumber, of owner: ManagedObject, _ relation: Relation
  ) -> Bool {
    let error = StoreError.corrupted(
      entity: owner.binding.entity.name, object: owner.number,
      what: "The relationship \(relation.name) leads to object number \(target.rawValue), which is "
        + "of no entity that it leads to.")
    note(ArborError(error, in: store.file))
    return false
  }

  /// Makes and registers an object that is not registered.
  ///
  /// - Throws: `corrupted` for a number of no entity, which only a forged file holds.
  @inline(__always)
  func make(
    _ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?
  ) throws(StoreError) -> ManagedObject {
    let binding = try binding(ofStored: number)
    let object = binding._withUnsafeGuaranteedRef { $0.makeObject(in: self, number, record, slab) }
    registry.registerNew(object)
    return object
  }

  /// The binding of an object that the store has.
  ///
  /// - Throws: `corrupted` for a number of no entity.
  @inline(__always)
  func binding(ofStored number: ObjectNumber) throws(StoreError) -> Unmanaged<EntityBinding> {
    guard let binding = classes[number] else {
      throw .corrupted(
        entity: nil, object: number,
        what: "The object number \(number.rawValue) is of no entity of the store.")
    }
    return binding
  }

  /// The binding of an object's entity; nil for a number of none.
  @inline(__always)
  func binding(of number: ObjectNumber) -> EntityBinding? {
    classes[number]?.takeUnretainedValue()
  }

  /// The relationship that an object's entity has in a slot.
  @inline(__always)
  func relation(of number: ObjectNumber, _ slot: Int) -> Relation? {
    guard let binding = binding(of: number), binding.relations.indices.contains(slot) else {
      return nil
    }
    return binding.relations[slot]
  }
}
