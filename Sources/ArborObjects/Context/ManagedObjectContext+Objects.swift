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
    let entity = try reader.concreteEntity(named: entityName)
    try takeInKnownCommits()
    return try reader.insert(reader.classes.bindings[entity.index], newNumber(for: entity))
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
    do throws(ArborError) { binding = try reader.binding(for: type) } catch {
      preconditionFailure(error.message)
    }
    guard !binding.entity.isAbstract else {
      preconditionFailure(ObjectReader.abstractMessage(binding.entity.name))
    }
    let number: ObjectNumber
    do throws(ArborError) {
      try takeInKnownCommits()
      number = try newNumber(for: binding.entity)
    } catch {
      note(error)
      number = reader.unstorableNumber(for: binding.entity)
    }
    // The binding of exactly this class makes objects of it.
    return unsafeDowncast(reader.insert(binding, number), to: type)
  }

  private func newNumber(for entity: EntitySchema) throws(ArborError) -> ObjectNumber {
    do throws(StoreError) {
      let sequences = try store.file.takeNumbers(1, for: entity)
      return ObjectNumber(entity: entity.number, sequence: sequences.lowerBound)
    } catch {
      throw ArborError(error, in: store.file)
    }
  }

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
    return try reader.made(number)
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
    let known = work.registry.live(number)
    known?.hold(record, slab)
    let object = if let known { known } else { try reader.made(number, record, slab) }
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
