internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// Creating and loading objects, by record, relationship or number. Object numbers read from the
/// file are untrusted.
extension Session {
  /// Returns the registered object with a number, or a fault. Never fails: if the number's entity
  /// is unknown, returns `nil`, and the context keeps the error.
  @inline(__always)
  func fault(_ number: ObjectNumber) -> ManagedObject? {
    if let object = registry.object(number) { return object }
    return makeFault(number)
  }

  @inline(never)
  private func makeFault(_ number: ObjectNumber) -> ManagedObject? {
    do throws(StoreError) { return try make(number, nil, nil) } catch {
      note(error)
      return nil
    }
  }

  /// Returns a fault for the target of an object's to-one relationship. Never fails: if the
  /// number's entity isn't valid for the relationship, returns `nil`, and the context keeps the
  /// error.
  @inline(never)
  func makeTarget(
    _ number: ObjectNumber, of owner: ManagedObject, _ slot: Int
  ) -> ManagedObject? {
    admits(number, of: owner, owner.binding.relationship(slot)) ? makeFault(number) : nil
  }

  /// Creates and registers an object: with a record and the slab that contains it, or as a fault
  /// without either. No object with the number may be registered yet.
  @inline(__always)
  func make(
    _ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?
  ) throws(StoreError) -> ManagedObject {
    let binding = try binding(ofStored: number)
    let object = binding._withUnsafeGuaranteedRef { $0.makeObject(in: self, number, record, slab) }
    registry.registerNew(object)
    return object
  }

  /// Returns the binding of a stored object.
  ///
  /// - Throws: `corrupted` if the number's entity is unknown.
  @inline(__always)
  func binding(ofStored number: ObjectNumber) throws(StoreError) -> Unmanaged<EntityBinding> {
    guard let binding = classes[number] else {
      throw .corrupted(
        entity: nil, object: number,
        what: "The object number \(number.rawValue) doesn't belong to an entity of the store.")
    }
    return binding
  }

  @inline(__always)
  func binding(of number: ObjectNumber) -> EntityBinding? {
    classes[number]?.takeUnretainedValue()
  }

  /// Returns the objects with the given numbers, in order. Those that aren't registered are loaded
  /// from one snapshot. Never fails; the context keeps the error.
  ///
  /// Objects that other commits have deleted since the numbers were read are skipped.
  ///
  /// - Parameter link: The relationship through which the numbers were found, or `nil` if they were
  ///   looked up.
  func objects(_ numbers: [ObjectNumber], of link: LinkSource?) -> [ManagedObject] {
    var fetched = FetchedObjects()
    let objects = objects(numbers, of: link, &fetched)
    fetched.awake()
    return objects
  }

  func objects(
    _ numbers: [ObjectNumber], of link: LinkSource?, _ fetched: inout FetchedObjects
  ) -> [ManagedObject] {
    var words = registry.map.words(of: numbers)
    if words.contains(0) {
      do throws(StoreError) { try register(numbers, of: link, &fetched) } catch { note(error) }
      words = registry.map.words(of: numbers)
    }
    var objects: [ManagedObject] = []
    objects.reserveCapacity(numbers.count)
    registry.forEach(of: words) { objects.append($0) }
    return objects
  }

  /// Returns the existing objects with the given numbers, in the order of the numbers.
  func existing(
    _ numbers: some Collection<ObjectNumber>, on snapshot: StoreSnapshot,
    _ fetched: inout FetchedObjects
  ) throws(StoreError) -> [ManagedObject] {
    var missing = numbers.filter { registry.object($0)?.base == nil }.map(\.rawValue)
    SortedNumbers.sortUnique(&missing)
    try load(missing.map { ObjectNumber(rawValue: $0) }, on: snapshot, &fetched)
    return numbers.compactMap { number in
      guard let object = registry.object(number), object.base != nil, !object.isDeleted else {
        return nil
      }
      return object
    }
  }

  private func leads(
    _ link: LinkSource, to target: ObjectNumber, on snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    guard let field = link.relationship.field else {
      return try snapshot.contains(target, in: link.relationship, of: link.owner)
    }
    let record = try snapshot.record(link.owner, allocator: allocator)
    return record?.reference(field) == target
  }

  private func register(
    _ numbers: [ObjectNumber], of link: LinkSource?, _ fetched: inout FetchedObjects
  ) throws(StoreError) {
    var missing = numbers.filter { !registry.map.contains($0) }.map(\.rawValue)
    SortedNumbers.sortUnique(&missing)
    let objects = missing.map { ObjectNumber(rawValue: $0) }
    try peek { snapshot throws(StoreError) in
      for number in objects { noteRead(number, on: snapshot) }
      try load(objects, on: snapshot, &fetched)
      guard let link else { return }
      for lost in objects where !registry.map.contains(lost) {
        guard try leads(link, to: lost, on: snapshot) else { continue }
        throw .corrupted(
          entity: binding(of: lost)?.entity.name, object: lost,
          what: "a relationship refers to an object that doesn't exist")
      }
    }
  }

  /// Loads a fault's record. Returns whether the object now has one. An object that doesn't exist is
  /// marked as missing, which isn't an error of the context.
  func load(_ object: ManagedObject) -> Bool {
    if object.base != nil { return true }
    do throws(StoreError) {
      let found = try peek { snapshot throws(StoreError) in
        noteRead(object.number, on: snapshot)
        return try snapshot.record(object.number, allocator: allocator)
      }
      guard let found else {
        object.state = .missing
        return false
      }
      object.state = .live
      object.hold(found, allocator.slab)
    } catch {
      note(error)
      return false
    }
    object.awakeFromFetch()
    return true
  }

  /// Records that an object is read from a snapshot, if the snapshot is newer than the merged
  /// commits, because reading a property doesn't merge any. When listeners are notified of the
  /// newer commits later, they cannot compare with the record.
  @inline(__always)
  func noteRead(_ number: ObjectNumber, on snapshot: StoreSnapshot) {
    if snapshot.sequence > sequence, !listeners.isEmpty, mergesCommits {
      readNewer.insert(number)
    }
  }

  /// Returns whether an object was inserted in this context and never committed, even if it has
  /// since been deleted.
  func isNew(_ number: ObjectNumber) -> Bool {
    guard let change = pending.change(of: number) else { return false }
    return change.committed == nil && change.kind != .updated
  }
}
