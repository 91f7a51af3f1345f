public import ArborModel

extension ManagedObjectContext {
  /// Inserts an object of an entity, initialized with its default values.
  ///
  /// - Returns: An object of the entity's class. Its ID is permanent from now on.
  /// - Throws: ``ArborError`` `unknownName` if the model has no such entity, `notAllowed` if the
  ///   entity is abstract, and any error from the store.
  @discardableResult
  public func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
    try session.beginOperation()
    return try session.insert(session.concreteEntity(named: entityName))
  }

  /// Inserts an object of a typed class, initialized with its default values.
  ///
  /// The method doesn't throw, so that code that sets up objects stays readable. If the store
  /// reports an error — because it is closed, read-only or full — the context's next throwing
  /// operation throws it, and commits fail. Until then the object can be used like any other.
  ///
  /// - Precondition: The class describes a concrete entity of the store's model.
  @discardableResult
  public func insert<T: ManagedObject>(_ type: T.Type) -> T {
    // The binding for exactly this class creates objects of it.
    unsafeDowncast(session.insert(type), to: type)
  }

  /// Returns the object with an ID, without checking that it exists. Its values are loaded when
  /// they are first accessed. If it doesn't exist, they are default values, and
  /// ``ManagedObject/isDeleted`` is `true` from then on. Objects inserted in this context are found,
  /// too.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the ID belongs to another store or its entity is
  ///   unknown.
  public func object(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try session.beginOperation()
    try session.mergeKnownCommits()
    return try session.object(of: id)
  }

  /// Returns the object with an ID, with its values loaded.
  ///
  /// - Throws: ``ArborError`` `objectNotFound` if the object doesn't exist or is deleted in this
  ///   context; `invalidArgument` if the ID belongs to another store.
  public func existingObject(with id: ObjectID) throws(ArborError) -> ManagedObject {
    try session.existingObject(id)
  }

  /// Returns the object with an ID if it is registered in the context, otherwise `nil`. Does not
  /// access the store.
  public func registeredObject(for id: ObjectID) -> ManagedObject? {
    session.registeredObject(id)
  }

  /// Deletes an object and applies its relationships' delete rules, immediately in this context and
  /// with the next commit in the store.
  ///
  /// A `deny` rule that is violated is reported by the commit. Deleting an object again has no
  /// effect. The time is proportional to the number of deleted objects and the objects they are
  /// linked to.
  ///
  /// - Precondition: The object belongs to this context.
  public func delete(_ object: ManagedObject) {
    guard object.session === session else {
      guard !object.state.isOver else { return }
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
