package import ArborModel
internal import ArborStore

/// Resolving the names in a request.
extension Session {
  func entity(named name: String) throws(ArborError) -> EntitySchema {
    try schema.knownEntity(named: name)
  }

  /// Returns the entity with a name.
  ///
  /// - Throws: ``ArborError`` `unknownName` if there is no such entity, or `notAllowed` if it is
  ///   abstract.
  func concreteEntity(named name: String) throws(ArborError) -> EntitySchema {
    let entity = try entity(named: name)
    guard !entity.isAbstract else {
      throw ArborError(.notAllowed, Self.abstractMessage(name)).with(entity: name)
    }
    return entity
  }

  static func abstractMessage(_ name: String) -> String {
    "Entity \(name) is abstract. Insert an object of a subentity."
  }

  /// Returns the entity of a request, after checking that its objects have the request's class.
  func entity<T: ManagedObject>(for request: FetchRequest<T>) throws(ArborError) -> EntitySchema {
    let name = request.entity
    if T.self == ManagedObject.self { return try entity(named: name) }
    let described = try binding(for: T.self).takeUnretainedValue().entity
    if described.name == name { return described }
    let entity = try entity(named: name)
    let objectClass = classes.originals[entity.index].objectClass
    guard objectClass is T.Type else {
      throw ArborError(
        .typeMismatch,
        "Entity \(name) is represented by \(objectClass), which is not a \(T.self). Request "
          + "another class."
      ).with(entity: name)
    }
    return entity
  }

  /// Returns a request for a typed class. The binding provides the entity's name, which is cheaper
  /// than creating the class's description.
  @inline(__always)
  func request<T: ManagedObject>(
    _ type: T.Type, _ predicate: FetchPredicate?, _ sortKeys: [SortKey]
  ) throws(ArborError) -> FetchRequest<T> {
    guard type != ManagedObject.self else {
      return FetchRequest<T>(predicate: predicate, sortKeys: sortKeys)
    }
    return FetchRequest<T>(
      entity: try entityName(of: type), predicate: predicate, sortKeys: sortKeys)
  }

  /// Returns the name of the entity that a typed class represents.
  ///
  /// - Throws: ``ArborError`` if the class doesn't represent an entity of the model.
  package func entityName(of objectClass: ManagedObject.Type) throws(ArborError) -> String {
    try binding(for: objectClass).takeUnretainedValue().entity.name
  }

  /// Returns the binding of a typed class, which creates objects of that class. Unretained; owned by
  /// the session.
  ///
  /// A class that the store was not opened with is bound at its first use.
  ///
  /// - Throws: ``ArborError`` if the class doesn't describe an entity of the model or contradicts
  ///   it, or if the context already holds objects of the entity with another class.
  func binding(
    for objectClass: ManagedObject.Type
  ) throws(ArborError) -> Unmanaged<EntityBinding> {
    if let binding = classes[objectClass] { return binding }
    let updated = try store.bind(objectClass)
    for (old, new) in zip(classes.originals, updated.bindings)
    where old.objectClass != new.objectClass {
      try refuseRebinding(of: new)
    }
    classes = SessionClasses(updated, isObserved: observation != nil)
    guard let bound = classes[objectClass] else {
      stopProgram("\(objectClass) isn't among the classes of the store that bound it.")
    }
    return bound
  }

  /// Throws if the context has objects of an entity, because objects cannot change their class.
  private func refuseRebinding(of binding: EntityBinding) throws(ArborError) {
    var isInUse = false
    registry.forEach { if $0.binding.entity === binding.entity { isInUse = true } }
    guard isInUse else { return }
    throw ArborError(
      .notAllowed,
      "This context already holds objects of \(binding.entity.name) that are not of class "
        + "\(binding.objectClass). Pass the class when opening the store, or use the class before "
        + "fetching such objects."
    ).with(entity: binding.entity.name)
  }

  // MARK: Queries

  /// Returns the query for a request, and applies the request's limits to the operation.
  func query(
    _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> StoreQuery {
    try limitOperation(to: description.allowance)
    let keys = try description.sortKeys.bind(to: entity, in: schema)
    return StoreQuery(
      entity: entity, includesSubentities: description.includesSubentities,
      predicate: try description.predicate?.bound(to: entity, in: schema), sortKeys: keys,
      groupLimit: try description.limitPerGroup.map { (limit) throws(ArborError) in
        try limit.bind(to: entity, in: schema)
      }, limit: description.fetchLimit,
      offset: description.pageToken == nil ? description.fetchOffset : 0,
      continuation: try description.continuation(storeID: engine.id))
  }

  func overlay(for description: FetchDescription) -> (any PendingState)? {
    description.includesPendingChanges ? overlay : nil
  }

  /// Resolves the paths to prefetch.
  ///
  /// - Throws: ``ArborError`` `unknownName` if a name isn't a relationship.
  func prefetchPaths(
    _ description: FetchDescription, of entity: EntitySchema
  ) throws(ArborError) -> [[RelationshipSchema]] {
    var resolved: [[RelationshipSchema]] = []
    for keyPath in description.relationshipKeyPathsForPrefetching {
      let path = try keyPath.text()
      var hops: [RelationshipSchema] = []
      var entity = entity
      for name in path.split(separator: ".", omittingEmptySubsequences: false) {
        guard case .relationship(let relationship) = entity.property(named: String(name)) else {
          throw ArborError(
            .unknownName,
            "Entity \(entity.name) has no relationship \(name) to prefetch."
              + NearestName.hint(String(name), in: entity.propertyNames)
          ).with(entity: entity.name, keyPath: path)
        }
        hops.append(relationship)
        entity = schema.entities[relationship.destination]
      }
      resolved.append(hops)
    }
    return resolved
  }
}

extension FetchPredicate {
  /// Binds the predicate to an entity, and returns the result with the predicate's arguments.
  func bound(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> (bound: BoundPredicate, arguments: [PropertyValue]) {
    let (shape, arguments) = whole
    return (try PredicateBinder.bind(shape, to: entity, in: schema), arguments)
  }
}

extension ModelSchema {
  /// Returns the entity with a name.
  ///
  /// - Throws: `unknownName` with the nearest name if there is no such entity.
  package func knownEntity(named name: String) throws(ArborError) -> EntitySchema {
    if let entity = entity(named: name) { return entity }
    throw ArborError(
      .unknownName,
      "The model has no entity \(name)." + NearestName.hint(name, in: entities.map(\.name))
    ).with(entity: name)
  }
}

extension EntitySchema {
  func mismatch(_ property: String, _ value: PropertyValue, _ expectation: String) -> ArborError {
    let error =
      value.containsNaN
      ? ArborError(
        .validation,
        "Expected \(expectation) for \(name).\(property), but found NaN. Set another value.")
      : ArborError(
        .typeMismatch,
        "Expected \(expectation) for \(name).\(property), but found a value of another type or "
          + "out of range.")
    return error.with(entity: name, keyPath: property, offending: "\(value)")
  }

  func unknownProperty(_ name: String) -> ArborError {
    ArborError(
      .unknownName,
      "Entity \(self.name) has no property \(name)." + NearestName.hint(name, in: propertyNames)
    ).with(entity: self.name, keyPath: name)
  }
}
