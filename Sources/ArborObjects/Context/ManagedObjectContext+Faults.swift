internal import ArborModel
internal import ArborStore
internal import ArborWork

/// From numbers to live objects and bindings. Numbers that were read from the file may be of no
/// entity, or of one that nobody expects, where the file was forged.
extension ManagedObjectContext {
  /// The object of a number: the registered one, or a fault. Never fails: nil where the number is
  /// of no entity, and the context remembers the error.
  @inline(__always)
  func fault(_ number: ObjectNumber) -> ManagedObject? {
    work.registry.live(number) ?? work.makeFault(number)?.live
  }

  /// The object that a to-one relationship of an object leads to: the registered one, or a fault.
  /// Never fails: nil where the number is of no entity that the relationship leads to, and the
  /// context remembers the error.
  @inline(__always)
  func target(_ number: ObjectNumber, of owner: ManagedObject, _ slot: Int) -> ManagedObject? {
    work.registry.live(number) ?? makeTarget(number, of: owner, slot)
  }

  @inline(never)
  private func makeTarget(
    _ number: ObjectNumber, of owner: ManagedObject, _ slot: Int
  ) -> ManagedObject? {
    work.admits(number, of: owner, owner.binding.relation(slot))
      ? work.makeFault(number)?.live : nil
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
    work.registry.registerNew(object)
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
}
