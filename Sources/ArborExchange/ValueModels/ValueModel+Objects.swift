public import ArborModel
public import ArborObjects

extension ValueModel {
  /// Creates the model of a managed object, including uncommitted changes.
  ///
  /// Relationships that correspond to properties of the models are followed recursively. Within a
  /// call, each object has one model: if the model is a class, all references share one instance.
  /// An empty relationship leaves its property at the default, like a missing key. A `nil`
  /// attribute sets its property to `nil`.
  ///
  /// ```swift
  /// let banner = try Banner(object)
  /// ```
  ///
  /// Must be called on the thread or actor of the object's context.
  ///
  /// - Throws: ``ArborError``: `noModelType` if `modelType(for:)` returns no type; `invalidMapping`
  ///   if the object belongs to another entity, if objects form a cycle without a back reference,
  ///   or if a name isn't a coding key; `invalidManagedKey` if the entity doesn't have a property;
  ///   `unsupportedProperty` and `unsupportedRelationship` if the type of a property cannot hold
  ///   the value of the entity; `typeMismatch` if a number is out of the range of its property;
  ///   `initialization` if a required value is `nil` or the initializer of the model throws;
  ///   `modelError` for an error thrown by a transformer or by ``validate()``; any error from
  ///   the store.
  /// - Complexity: Linear in the number of objects reached.
  public init(_ object: ManagedObject) throws(ArborError) {
    guard let context = object.context else { throw ArborError(unreachable: object) }
    let models = try context.values(Self.self, of: [object])
    guard let model = models.first else {
      throw ArborError(
        .initialization,
        "No model was created from \(object.objectID). Return a model for the object.")
    }
    self = model
  }
}

extension ManagedObjectContext {
  /// Returns the models of managed objects, in the same order and as one graph. See
  /// ``ValueModel/init(_:)``.
  ///
  /// When the first model requests a relationship, its destinations are fetched for all objects in
  /// one pass.
  ///
  /// - Throws: The same errors as ``ValueModel/init(_:)``.
  public func values<M: ValueModel>(
    _ type: M.Type, of objects: [ManagedObject]
  ) throws(ArborError) -> [M] {
    try session.throwDeferredFailure()
    for object in objects where object.context?.store !== store {
      throw ArborError(unreachable: object)
    }
    do {
      // All objects are read from one snapshot.
      let models = try withSnapshot {
        // Deletions by other contexts are visible from this point on.
        for object in objects where object.context == nil {
          throw ArborError(unreachable: object, code: .objectNotFound)
        }
        return try ManagedObjectReading(store.schema, in: self).models(
          type, of: objects)
      }
      try session.throwDeferredFailure()
      return models
    } catch {
      // Values that couldn't be read were replaced by default values, which may have caused this
      // error.
      try session.throwDeferredFailure()
      throw ArborError(byModel: error)
    }
  }

  /// Returns the models of the objects that match a predicate, as one graph. See
  /// ``ValueModel/init(_:)``.
  ///
  /// The predicate and the sort keys use the property names of the entity.
  ///
  /// ```swift
  /// let wide = try context.values(Banner.self, matching: "width > 100", sortedBy: "id")
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - predicate: The predicate that the objects must match, or `nil` for all objects of the
  ///     entity and its subentities.
  ///   - sortKeys: The order of the objects. Without sort keys, they are ordered by ID.
  /// - Throws: The same errors as ``ValueModel/init(_:)`` and ``fetch(_:)``.
  /// - Complexity: Linear in the number of objects reached, in addition to the fetch.
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

  /// Returns the models of the objects that match a predicate, in the order of individual sort
  /// keys.
  ///
  /// - Throws: The same errors as the overload that takes a list of sort keys.
  public func values<M: ValueModel>(
    _ type: M.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [M] {
    try values(type, matching: predicate, sortedBy: [first] + others)
  }
}

extension ArborError {
  /// Creates the error for an object whose model a context cannot create.
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
  /// Updates the object of a model, or inserts an object, and does the same for all models that the
  /// model refers to. Nothing is committed.
  ///
  /// The object of a model is the one with the same values of ``ValueModel/uniquingKeys``,
  /// including uncommitted objects. A model inserts an object if it has no uniquing keys, if one of
  /// them is `nil`, or if there is no such object. The objects of all models are looked up with one
  /// fetch per entity. An instance of a class corresponds to one object, regardless of the number
  /// of references to it.
  ///
  /// Models that are passed in take precedence. Another model of the same object that is reached
  /// through a relationship or a back reference only refers to the object and doesn't change it.
  /// Models that are reached only through such a model aren't written.
  ///
  /// Nil clears an attribute of an existing object, and leaves an attribute of a new object at its
  /// default. Nil leaves a relationship unchanged. A collection replaces the members of its
  /// relationship: other members are removed from the relationship but not deleted, and an empty
  /// collection removes all members. Writing an unchanged value isn't a change.
  ///
  /// ```swift
  /// let object = try context.upsert(banner)
  /// try context.commit()
  /// ```
  ///
  /// Rules of the model file, such as required attributes, are validated by the commit.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - scope: The objects that may be matched and unlinked. Defaults to all.
  /// - Returns: The object of the model.
  /// - Throws: ``ArborError``: `invalidManagedKey` if the entity doesn't have a property;
  ///   `unsupportedProperty` and `unsupportedRelationship` if the entity cannot store the type of a
  ///   property, for relationships even if the property is `nil` or empty; `initialization` if a
  ///   property's type differs from its transformer's; `typeMismatch` if a number is out of the
  ///   range of its attribute; `invalidMapping`; `uniqueFetchFailed`; `modelError` for an error
  ///   thrown by a transformer, by ``ValueModel/merge(from:)`` or by the `encode(to:)` of a model.
  ///   The context is unchanged in that case.
  /// - Complexity: Linear in the number of models, in addition to one indexed fetch per entity.
  @discardableResult
  public func upsert(
    _ model: some ValueModel, within scope: UpsertScope = .all
  ) throws(ArborError) -> ManagedObject {
    let objects = try upsert([model], within: scope)
    guard let object = objects.first else {
      throw ArborError(
        .uniqueFetchFailed, "The model was not written to an object. Write it again.")
    }
    return object
  }

  /// Updates or inserts the objects of several models, all or none of them, like the overload that
  /// takes one model. Nothing is committed.
  ///
  /// The models can have different types. If several models describe the same object, later models
  /// overwrite earlier ones.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - scope: The objects that may be matched and unlinked. Defaults to all.
  /// - Returns: The objects, in the order of the models.
  /// - Throws: The same errors as the overload that takes one model. The context is unchanged in
  ///   that case.
  @discardableResult
  public func upsert(
    _ models: [any ValueModel], within scope: UpsertScope = .all
  ) throws(ArborError) -> [ManagedObject] {
    do {
      return try withSavepoint {
        let planner = try ModelPlanner(self, within: scope)
        let items = try models.map(planner.root)
        let run = ExchangeRun(planner.plan)
        try run.carryOutModels(of: planner)
        return items.compactMap { run.objects[Int($0)] }
      }
    } catch {
      throw ArborError(byModel: error)
    }
  }
}
