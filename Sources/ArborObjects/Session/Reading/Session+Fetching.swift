internal import ArborModel
internal import ArborStore

/// Fetching. Non-generic wherever the class of the objects isn't needed.
extension Session {
  /// Fetches the objects of a request. See ``ManagedObjectContext/fetch(_:)``.
  func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try beginOperation()
    let entity = try entity(for: request)
    let query = try query(request.description, entity)
    // `entity(for:)` has checked the class, which is that of all objects of the entity.
    return try fetchObjects(query, request.description, entity).typed()
  }

  private func fetchObjects(
    _ query: StoreQuery, _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> [ManagedObject] {
    let overlay = overlay(for: description)
    let paths = try prefetchPaths(description, of: entity)
    var fetched = FetchedObjects()
    // Hooks run when no snapshot is open and every object is in place. They also run for objects
    // created before an error, because these remain in the context.
    defer { fetched.awake() }
    return try onSnapshot { snapshot throws(StoreError) in
      let records = try snapshot.fetch(query, overlay: overlay, allocator: allocator)
      let results = try materialise(records, on: snapshot, &fetched)
      for path in paths { try prefetch(path, of: results, on: snapshot, &fetched) }
      return results
    }
  }

  // MARK: First results

  /// Fetches the first object of a request.
  func first(
    _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> ManagedObject? {
    var description = description
    description.fetchLimit = 1
    let query = try query(description, entity)
    let overlay = overlay(for: description)
    return try first(
      prefetching: prefetchPaths(description, of: entity)
    ) { snapshot throws(StoreError) in
      try snapshot.fetch(query, overlay: overlay, allocator: allocator).first
    }
  }

  /// Fetches the first object of a class that matches a predicate, given its shape and arguments.
  func first(
    _ objectClass: ManagedObject.Type, _ shape: ParsedPredicate, _ arguments: [PropertyValue],
    _ sortKeys: [SortKey]
  ) throws(ArborError) -> ManagedObject? {
    let entity = try binding(for: objectClass).takeUnretainedValue().entity
    try limitOperation(to: shape.allowance)
    let bound = try PredicateBinder.bind(shape, to: entity, in: schema)
    let keys = try sortKeys.bind(to: entity, in: schema)
    return try first(prefetching: []) { snapshot throws(StoreError) in
      try snapshot.first(
        of: entity, bound, arguments, keys, overlay: overlay, allocator: allocator)
    }
  }

  /// Returns the object of a single row that `fetchRow` reads from a snapshot.
  @inline(__always)
  private func first(
    prefetching paths: [[RelationshipSchema]],
    _ fetchRow: (StoreSnapshot) throws(StoreError) -> (row: FetchedRow, slab: RecordSlab?)?
  ) throws(ArborError) -> ManagedObject? {
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    return try onSnapshot { snapshot throws(StoreError) -> ManagedObject? in
      guard let (row, slab) = try fetchRow(snapshot) else { return nil }
      var isFetched = false
      let object = try object(of: row, slab, on: snapshot, &isFetched)
      if isFetched { fetched.append(object) }
      for path in paths { try prefetch(path, of: [object], on: snapshot, &fetched) }
      return object
    }
  }

  // MARK: By number

  /// Returns the numbers of a request's objects.
  func numbers<T: ManagedObject>(of request: FetchRequest<T>) throws(ArborError) -> [ObjectNumber] {
    try read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.fetchNumbers(query, overlay: overlay)
    }
  }

  /// Returns the existing objects with the given numbers, in the order of the numbers.
  ///
  /// - Parameter paths: The relationships to prefetch.
  func existingObjects(
    _ numbers: some Collection<ObjectNumber>, prefetching paths: [[RelationshipSchema]] = []
  ) throws(ArborError) -> [ManagedObject] {
    try limitOperation()
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    return try onSnapshot { snapshot throws(StoreError) -> [ManagedObject] in
      let objects = try existing(numbers, on: snapshot, &fetched)
      for path in paths { try prefetch(path, of: objects, on: snapshot, &fetched) }
      return objects
    }
  }

  // MARK: By ID

  /// Returns the object with an ID, with its values loaded. See
  /// ``ManagedObjectContext/existingObject(with:)``.
  func existingObject(_ id: ObjectID) throws(ArborError) -> ManagedObject {
    try beginOperation()
    let number = try number(of: id)
    try mergeKnownCommits()
    if let object = registry.object(number), object.base != nil {
      guard object.change?.kind != .deleted else { throw .missing(id) }
      return object
    }
    let record = try onSnapshot { snapshot throws(StoreError) in
      try snapshot.record(number, allocator: allocator)
    }
    guard let record else { throw .missing(id) }
    let slab = allocator.slab
    let known = registry.object(number)
    known?.hold(record, slab)
    let object =
      if let known { known } else { try engine.reporting(make(number, record, slab)) }
    object.awakeFromFetch()
    return object
  }

  /// Returns the registered object with an ID, or a fault.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the ID belongs to another store or its entity is
  ///   unknown.
  func object(of id: ObjectID) throws(ArborError) -> ManagedObject {
    let number = try number(of: id)
    if let object = registry.object(number) { return object }
    return try engine.reporting(make(number, nil, nil))
  }

  /// Returns the object with an ID if it is registered. Doesn't access the store.
  func registeredObject(_ id: ObjectID) -> ManagedObject? {
    (try? number(of: id)).flatMap { registry.object($0) }
  }

  func number(of id: ObjectID) throws(ArborError) -> ObjectNumber {
    do throws(StoreError) { return try engine.objectNumber(id) } catch {
      throw ArborError(error, in: engine).with(objectID: id)
    }
  }
}

extension ArborError {
  static func missing(_ id: ObjectID) -> ArborError {
    ArborError(
      .objectNotFound,
      "There is no \(id.entityName) \(id.number) in the store: it was deleted, or another context "
        + "has inserted it without committing it. Commit that context before opening the object in "
        + "this one, or fetch the objects that exist."
    ).with(entity: id.entityName, objectID: id)
  }
}
