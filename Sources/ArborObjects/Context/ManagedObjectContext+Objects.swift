public import ArborModel

extension ManagedObjectContext {
  /// Inserts an object of an entity, with its default values.
  ///
  /// - Returns: An object of the entity's class, with an ID that is permanent from now on.
  /// - Throws: ``ArborError`` `unknownName` for an entity that the model lacks, `notAllowed`
  ///   for an abstract one, else what the store reports.
  @discardableResult
  public func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
    try session.beginOperation()
    return try session.insert(session.concreteEntity(named: entityName))
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
    // The binding of exactly this class makes objects of it.
    unsafeDowncast(session.insert(type), to: type)
  }

  /// The object of an ID, without a look whether it exists: its values are read when they are asked
  /// for. The context's own inserted objects are found too.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for an ID of another store or an unknown entity.
  public func object(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try session.beginOperation()
    try session.mergeKnownCommits()
    return try session.object(of: id)
  }

  /// The object of an ID, its values read.
  ///
  /// - Throws: ``ArborError`` `objectNotFound` where there is no such object, or it is deleted in
  ///   this context; `invalidArgument` for an ID of another store.
  public func existingObject(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try session.existingObject(id)
  }

  /// The object of an ID where the context keeps it already, else nil. Reads nothing.
  public func registeredObject(for id: ObjectID) -> ManagedObject? {
    session.registeredObject(id)
  }

  /// Deletes an object, with what the delete rules of its relationships ask for, at once in this
  /// context and at the next commit in the store.
  ///
  /// A relationship whose rule is `deny` is a violation that the commit finds. Deleting an object
  /// again does nothing. Time in proportion to the objects deleted and those they are linked to.
  ///
  /// - Precondition: The object belongs to this context.
  public func delete(_ object: ManagedObject) {
    guard object.session === session else {
      guard object.state != .gone else { return }
      stopProgram(
        "\(object.objectID) cannot be deleted in this context: "
          + (object.session == nil ? object.whyDetached : "it belongs to another context")
          + ". Fetch it in this context by its objectID.")
    }
    session.sweepWhereDue()
    var propagation = DeletePropagation(session)
    propagation.delete(object)
  }
}
