public import ArborModel
internal import ArborStore

extension ManagedObjectContext {
  /// Fetches objects, uncommitted changes included.
  ///
  /// - Throws: ``ArborError``: `unknownName`, `invalidPredicate`, `typeMismatch` where the entity's
  ///   class is not `T`, and what the store reports.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try beginOperation()
    let entity = try entity(for: request)
    let query = try query(request.description, entity)
    let overlay = overlay(for: request.description)
    var prefetched: [Relation] = []
    for path in request.relationshipKeyPathsForPrefetching {
      prefetched.append(try relation(path, of: entity))
    }
    var fetched: [ManagedObject] = []
    let results = try onSnapshot { snapshot throws(StoreError) in
      let records = try snapshot.fetch(query, overlay: overlay, allocator: allocator)
      let results: [T] = try materialise(records, on: snapshot, &fetched)
      for relation in prefetched {
        try prefetch(relation, of: results, on: snapshot, &fetched)
      }
      return results
    }
    // Hooks run when no snapshot is open and every object is in place.
    for object in fetched { object.awakeFromFetch() }
    return results
  }

  /// The first object of a request, or nil. The request's own limit does not count.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> T? {
    var request = request
    request.fetchLimit = 1
    return try fetch(request).first
  }

  /// The number of objects that a request would give, without reading them.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Int {
    try beginOperation()
    let query = try query(request.description, entity(for: request))
    let overlay = overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in
      try snapshot.count(query, overlay: overlay)
    }
  }

  /// The IDs of the objects that a request would give, without making objects.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchIDs<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [ObjectID] {
    try beginOperation()
    let query = try query(request.description, entity(for: request))
    let overlay = overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in
      try snapshot.fetch(query, overlay: overlay, allocator: allocator).rows
        .map { store.file.objectID($0.number) }
    }
  }

  /// How the store finds what a request asks for.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func explain<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> QueryPlan {
    try beginOperation()
    let query = try query(request.description, entity(for: request))
    return try onSnapshot { snapshot throws(StoreError) in try snapshot.explain(query) }
  }

  // MARK: Queries

  /// The entity of a request, whose class is checked to be what the request promises.
  private func entity<T: ManagedObject>(
    for request: FetchRequest<T>
  ) throws(ArborError) -> EntitySchema {
    let entity =
      T.self == ManagedObject.self
      ? try self.entity(named: request.entity) : try self.entity(named: request.entity, as: T.self)
    return entity
  }

  private func entity<T: ManagedObject>(
    named name: String, as type: T.Type
  ) throws(ArborError) -> EntitySchema {
    let binding = try binding(for: type)
    if binding.entity.name == name { return binding.entity }
    let entity = try self.entity(named: name)
    guard bindings[entity.index].objectClass is T.Type else {
      throw ArborError(
        .typeMismatch,
        "Entity \(name) is represented by \(bindings[entity.index].objectClass), which is no "
          + "\(type); request another class."
      ).with(entity: name)
    }
    return entity
  }

  private func query(
    _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> StoreQuery {
    var keys: [BoundSortKey] = []
    for key in description.sortKeys { keys.append(try key.bind(to: entity, in: schema)) }
    var predicate: (bound: BoundPredicate, arguments: [Value])?
    if let wanted = description.predicate {
      predicate = (try PredicateBinder.bind(wanted, to: entity, in: schema), wanted.arguments)
    }
    return StoreQuery(
      entity: entity, includesSubentities: description.includesSubentities, predicate: predicate,
      sortKeys: keys, limit: description.fetchLimit, offset: description.fetchOffset)
  }

  private func overlay(for description: FetchDescription) -> FetchOverlay? {
    description.includesPendingChanges ? overlay : nil
  }

  private func relation(
    _ name: String, of entity: EntitySchema
  ) throws(ArborError) -> Relation {
    guard case .relationship(let relationship) = entity.property(named: name) else {
      throw ArborError(
        .unknownName,
        "Entity \(entity.name) has no relationship \(name) to prefetch."
          + NearestName.hint(name, in: entity.propertyNames)
      ).with(entity: entity.name, keyPath: name)
    }
    return bindings[entity.index].relations[relationship.slot]
  }

  // MARK: Objects

  /// Rows as objects: those that the context keeps, the others made around the copied records.
  private func materialise<T: ManagedObject>(
    _ records: FetchedRecords, on snapshot: StoreSnapshot, _ fetched: inout [ManagedObject]
  ) throws(StoreError) -> [T] {
    var results: [T] = []
    results.reserveCapacity(records.rows.count)
    if registry.count == 0 { registry.reserve(records.rows.count) }
    fetched.reserveCapacity(records.rows.count)
    for row in records.rows {
      let object: ManagedObject
      if let present = registry.object(row.number) {
        object = present
        if present.base == nil {
          try fill(present, row, records, snapshot)
          if present.base != nil { fetched.append(present) }
        }
      } else if let record = row.record {
        object = make(row.number, record, records.slabs[Int(row.slabIndex)])
        fetched.append(object)
      } else {
        throw .corrupted(
          entity: nil, object: row.number, what: "a fetch found an object without its record")
      }
      // The class of the entity, which all its objects have, was checked.
      results.append(unsafeDowncast(object, to: T.self))
    }
    return results
  }

  /// Gives a fault the record that a fetch has found.
  private func fill(
    _ object: ManagedObject, _ row: FetchedRow, _ records: FetchedRecords,
    _ snapshot: StoreSnapshot
  ) throws(StoreError) {
    if let record = row.record {
      object.hold(record, records.slabs[Int(row.slabIndex)])
    } else if let record = try snapshot.record(row.number, allocator: allocator) {
      object.hold(record, allocator.slab)
    }
  }

  /// Reads the objects that a relationship of the results leads to.
  private func prefetch<T: ManagedObject>(
    _ relation: Relation, of results: [T], on snapshot: StoreSnapshot,
    _ fetched: inout [ManagedObject]
  ) throws(StoreError) {
    for result in results {
      let targets: [ObjectNumber]
      if relation.isToMany {
        targets = try snapshot.members(relation.schema, of: result.number)
      } else {
        // The concrete entity's own form, since the field lies elsewhere in its records.
        targets = result.target(of: result.binding.relations[relation.slot]).map { [$0] } ?? []
      }
      for target in targets where registry.object(target)?.base == nil {
        guard let record = try snapshot.record(target, allocator: allocator) else { continue }
        let slab = allocator.slab
        if let fault = registry.object(target) {
          fault.hold(record, slab)
          fetched.append(fault)
        } else {
          fetched.append(make(target, record, slab))
        }
      }
    }
  }
}
