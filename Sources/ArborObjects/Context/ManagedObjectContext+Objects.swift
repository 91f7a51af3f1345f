public import ArborModel
internal import ArborStore
internal import ArborWork

extension ManagedObjectContext {
  /// Inserts an object of an entity, with its default values.
  ///
  /// - Returns: An object of the entity's class, with an ID that is permanent from now on.
  /// - Throws: ``ArborError`` `unknownName` for an entity that the model lacks, `notAllowed`
  ///   for an abstract one, else what the store reports.
  @discardableResult
  public func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
    try beginOperation()
    let entity = try concreteEntity(named: entityName)
    try takeInKnownCommits()
    return try insert(reader.classes.bindings[entity.index], number(for: entity))
  }

  /// Inserts an object of a typed class, with its default values.
  ///
  /// It does not throw, so that setting up objects reads well: what the store reports — it is
  /// closed, read-only or full — the context's next throwing operation throws, and a commit cannot
  /// succeed over it. Until then the object can be filled like any other.
  ///
  /// - Precondition: The class describes a concrete entity of the store's model.
  @discardableResult
  public func insert<T: ManagedObject>(_ type: T.Type) -> T {
    sweepWhereDue()
    let binding: EntityBinding
    do throws(ArborError) { binding = try self.binding(for: type) } catch {
      preconditionFailure(error.message)
    }
    guard !binding.entity.isAbstract else {
      preconditionFailure(abstractMessage(binding.entity.name))
    }
    let number: ObjectNumber
    do throws(ArborError) {
      try takeInKnownCommits()
      number = try self.number(for: binding.entity)
    } catch {
      note(error)
      number = unstorableNumber(for: binding.entity)
    }
    // The binding of exactly this class makes objects of it.
    return unsafeDowncast(insert(binding, number), to: type)
  }

  private func insert(_ binding: EntityBinding, _ number: ObjectNumber) -> ManagedObject {
    let working = RecordBuffer(copying: binding.entity.layout.template, into: work.allocator)
    let object = binding.makeObject(in: work, number, working.view, working.slab)
    work.recordEdit(of: object, isKnown: false)
    work.registry.registerNew(object)
    let change = PendingObject(object, .inserted, epoch: work.epoch)
    change.working = working
    work.pending.add(change)
    binding.objectClass.setInitialValues(of: object)
    object.awakeFromInsert()
    return object
  }

  private func number(for entity: EntitySchema) throws(ArborError) -> ObjectNumber {
    do throws(StoreError) {
      let sequences = try store.file.takeNumbers(1, for: entity)
      return ObjectNumber(entity: entity.number, sequence: sequences.lowerBound)
    } catch {
      throw ArborError(error, in: store.file)
    }
  }

  /// A number from the far end for an object that can never be committed.
  private func unstorableNumber(for entity: EntitySchema) -> ObjectNumber {
    defer { reader.unstorableSequence -= 1 }
    return ObjectNumber(entity: entity.number, sequence: reader.unstorableSequence)
  }

  func concreteEntity(named name: String) throws(ArborError) -> EntitySchema {
    let entity = try self.entity(named: name)
    guard !entity.isAbstract else {
      throw ArborError(.notAllowed, abstractMessage(name)).with(entity: name)
    }
    return entity
  }

  private func abstractMessage(_ name: String) -> String {
    "Entity \(name) is abstract and has no objects of its own; insert one of a subentity."
  }

  func entity(named name: String) throws(ArborError) -> EntitySchema {
    guard let entity = work.schema.entity(named: name) else {
      throw ArborError(
        .unknownName,
        "The model has no entity \(name)."
          + NearestName.hint(name, in: work.schema.entities.map(\.name))
      ).with(entity: name)
    }
    return entity
  }
}

extension ManagedObjectContext {
  /// The object of an ID, without a look whether it exists: its values are read when they are asked
  /// for. The context's own inserted objects are found too.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for an ID of another store or an unknown entity.
  public func object(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try beginOperation()
    try takeInKnownCommits()
    return try object(of: id)
  }

  /// The registered object of an ID, or a fault.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for an ID of another store or an unknown entity.
  func object(of id: ObjectID) throws(ArborError) -> ManagedObject {
    let number = try number(of: id)
    if let object = work.registry.live(number) { return object }
    return try made(number, nil, nil)
  }

  private func made(
    _ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?
  ) throws(ArborError) -> ManagedObject {
    do throws(StoreError) { return try reader.make(number, record, slab) } catch {
      throw ArborError(error, in: store.file)
    }
  }

  /// The object of an ID, its values read.
  ///
  /// - Throws: ``ArborError`` `objectNotFound` where there is no such object, or it is deleted in
  ///   this context; `invalidArgument` for an ID of another store.
  public func existingObject(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try beginOperation()
    let number = try number(of: id)
    try takeInKnownCommits()
    if let object = work.registry.live(number), object.base != nil {
      guard object.change?.kind != .deleted else { throw .missing(id) }
      return object
    }
    let record = try peek { snapshot throws(StoreError) in
      work.noteRead(number, on: snapshot)
      return try snapshot.record(number, allocator: work.allocator)
    }
    guard let record else { throw .missing(id) }
    let slab = work.allocator.slab
    if let object = work.registry.live(number) {
      object.hold(record, slab)
      object.awakeFromFetch()
      return object
    }
    let object = try made(number, record, slab)
    object.awakeFromFetch()
    return object
  }

  /// The object of an ID where the context keeps it already, else nil. Reads nothing.
  public func registeredObject(for id: ObjectID) -> ManagedObject? {
    (try? number(of: id)).flatMap { work.registry.live($0) }
  }

  func number(of id: ObjectID) throws(ArborError) -> ObjectNumber {
    do throws(StoreError) { return try store.file.objectNumber(id) } catch {
      throw ArborError(error, in: store.file).with(objectID: id)
    }
  }

  /// Deletes an object, with what the delete rules of its relationships ask for, at once in this
  /// context and at the next commit in the store.
  ///
  /// A relationship whose rule is `deny` is a violation that the commit finds. Deleting an object
  /// again does nothing. Time in proportion to the objects deleted and those they are linked to.
  ///
  /// - Precondition: The object belongs to this context.
  public func delete(_ object: ManagedObject) {
    guard object.owner === self else {
      guard object.state != .gone else { return }
      preconditionFailure(
        "\(object.objectID) cannot be deleted in this context, since "
          + (object.owner == nil ? object.whyDetached : "it belongs to another")
          + "; look it up here by its objectID.")
    }
    sweepWhereDue()
    do throws(ArborError) { try takeInKnownCommits() } catch { note(error) }
    var propagation = DeletePropagation(work)
    propagation.delete(object)
  }
}
