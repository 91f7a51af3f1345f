public import ArborModel
public import ArborObjects

extension ValueModel {
  /// The model of a stored object, pending changes included.
  ///
  /// Relationships are followed as far as the models' properties lead. Within the call one object
  /// is one model; instances of classes are identical. A relationship to nothing leaves its
  /// property at its default, as a key that is missing does; an attribute that is nil is nil.
  ///
  /// ```swift
  /// let banner = try Banner(object)
  /// ```
  ///
  /// Belongs to the object's context and whatever runs that.
  ///
  /// - Throws: ``ArborError``: `noModelType` where `modelType(for:)` has none; `invalidMapping`
  ///   where the object is of another entity, where objects lead in a circle that is no back
  ///   reference, and for names that are no coding keys; `invalidManagedKey` for a property that
  ///   the entity has not; `unsupportedProperty` and `unsupportedRelationship` where the property's
  ///   type cannot hold what the entity has; `typeMismatch` for a number out of the property's
  ///   range; `initialization` where a value that has to be is nil, or the model's own initializer
  ///   throws; `modelError` for what a transformer or ``validate()`` throws; else what the
  ///   store reports.
  /// - Complexity: Linear in the number of objects that are reached.
  public init(_ object: ManagedObject) throws(ArborError) {
    guard let context = object.context else { throw ArborError(unreachable: object) }
    let models = try context.values(Self.self, of: [object])
    guard let model = models.first else {
      throw ArborError(
        .initialization,
        "No model was created from \(object.objectID). Return a value.")
    }
    self = model
  }
}

extension ManagedObjectContext {
  /// The models of stored objects, in their order, as one graph: see ``ValueModel/init(_:)``.
  ///
  /// What a relationship leads to is read for all objects together, in one pass, once the first
  /// model asks for it.
  ///
  /// - Throws: As for a single object.
  public func values<M: ValueModel>(
    _ type: M.Type, of objects: [ManagedObject]
  ) throws(ArborError) -> [M] {
    try session.throwDeferredFailure()
    for object in objects where object.context?.store !== store {
      throw ArborError(unreachable: object)
    }
    do {
      // One view of the store for all of them, however many are read on the way.
      let models = try withSnapshot {
        // What others have deleted is known from here on.
        for object in objects where object.context == nil {
          throw ArborError(unreachable: object, code: .objectNotFound)
        }
        return try ManagedObjectReading(store.schema, in: self).models(
          type, of: objects)
      }
      try session.throwDeferredFailure()
      return models
    } catch {
      // What could not be read was given as default values, which may have led to other errors.
      try session.throwDeferredFailure()
      throw ArborError(byModel: error)
    }
  }

  /// The models of the objects that a predicate matches, as one graph: see ``ValueModel/init(_:)``.
  ///
  /// Predicate and sort keys speak of the entity, by its names.
  ///
  /// ```swift
  /// let wide = try context.values(Banner.self, matching: "width > 100", sortedBy: "id")
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - predicate: What the objects fulfil; nil: all objects of the entity and its subentities.
  ///   - sortKeys: Their order; without keys, that of their IDs.
  /// - Throws: As for a single object, and as ``fetch(_:)``.
  /// - Complexity: Linear in the number of objects that are reached, beside the fetch.
  public func values<M: ValueModel>(
    _ type: M.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [M] {
    do {
      return try withSnapshot {
        try values(type, of: try fetch(M.entityName, matching: predicate, sortedBy: sortKeys))
      }
    } catch {
      throw ArborError(byModel: error)
    }
  }

  /// The models of the objects that a predicate matches, with the sort keys written out.
  ///
  /// - Throws: As with a list of sort keys.
  public func values<M: ValueModel>(
    _ type: M.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [M] {
    try values(type, matching: predicate, sortedBy: [first] + others)
  }
}

extension ArborError {
  /// The error for an object of which a context can make no model.
  fileprivate init(unreachable object: ManagedObject, code: Code? = nil) {
    let isDetached = object.context == nil
    let problem =
      isDetached
      ? "no longer belongs to a context. Fetch the object in a context by its ID."
      : "belongs to another store. Use a context of that store."
    self = ArborError(
      code ?? (isDetached ? .notAllowed : .invalidArgument), "\(object.objectID) \(problem)"
    ).with(entity: object.entity.name, objectID: object.objectID)
  }
}

extension ManagedObjectContext {
  /// Writes a model into the object that it is, or into a new one, and the models that it leads to
  /// into theirs. Nothing is committed.
  ///
  /// A model is the object that has its values of ``ValueModel/uniquingKeys``, uncommitted objects
  /// included; without such keys, where one of them is nil, and where there is no such object, it
  /// becomes a new one. The objects of all models are looked up in one fetch per entity. One
  /// instance of a class becomes one object, whatever leads to it.
  ///
  /// What was passed in wins: another model of the same object, to which a relationship or a back
  /// reference leads, refers to the object and changes nothing of it, and what only such a model
  /// leads to is not written.
  ///
  /// Nil clears an attribute, or leaves that of a new object at its default, and leaves a
  /// relationship as it is. A collection becomes the members of its relationship: others are
  /// unlinked, not deleted, and an empty one unlinks all. A property that stays as it is, is no
  /// change.
  ///
  /// ```swift
  /// let object = try context.upsert(banner)
  /// try context.commit()
  /// ```
  ///
  /// Rules of the model file, such as that an attribute is mandatory, are checked by the commit.
  ///
  /// - Returns: The model's object.
  /// - Throws: ``ArborError``: `invalidManagedKey` for a property that the entity has not;
  ///   `unsupportedProperty` and `unsupportedRelationship` where the entity cannot hold the
  ///   property's type, a relationship's also where the property is nil or empty; `initialization`
  ///   for a property of another type than its transformer's; `typeMismatch` for a number out of
  ///   the attribute's range; `invalidMapping`; `uniqueFetchFailed`; `modelError` for
  ///   what a transformer, ``ValueModel/merge(from:)`` or the model's `encode(to:)` throws. The context is then exactly
  ///   as it was before.
  /// - Complexity: Linear in the number of models, beside one indexed fetch per entity.
  @discardableResult
  public func upsert(_ model: some ValueModel) throws(ArborError) -> ManagedObject {
    let objects = try upsert([model])
    guard let object = objects.first else {
      throw ArborError(
        .uniqueFetchFailed, "The model was not written to an object. Write it again.")
    }
    return object
  }

  /// Writes models, of one type or of several, into the objects that they are, or into new ones, all
  /// or none of them; as one model. Nothing is committed. Of several models that are one object the
  /// later ones overwrite.
  ///
  /// - Returns: The objects, in the order of the models.
  /// - Throws: As for a single model; the context is then exactly as it was before.
  @discardableResult
  public func upsert(_ models: [any ValueModel]) throws(ArborError) -> [ManagedObject] {
    do {
      return try withSavepoint {
        let planner = ModelPlanner(self)
        let items = try models.map(planner.root)
        let run = ExchangeRun(planner.plan)
        try run.carryOut(planner)
        return items.compactMap { run.objects[Int($0)] }
      }
    } catch {
      throw ArborError(byModel: error)
    }
  }
}
