public import ArborModel
internal import ArborStore
internal import ArborWork

extension ManagedObjectContext {
  /// Fetches objects, uncommitted changes included.
  ///
  /// - Throws: ``ArborError``: `unknownName`, `invalidPredicate`, `typeMismatch` where the entity's
  ///   class is not `T`, and what the store reports.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try beginOperation()
    let entity = try reader.entity(for: request)
    let query = try reader.query(request.description, entity)
    // The class of the entity, which all its objects have, is checked.
    return try fetch(query, request.description, entity).typed()
  }

  /// The first object of a request, or nil. The request's own limit does not count.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> T? {
    try beginOperation()
    // The class of the entity, which all its objects have, is checked.
    return try first(request.description, reader.entity(for: request))
      .map { unsafeDowncast($0, to: T.self) }
  }

  /// The first object that a description names. It knows no class, so that looking up one object
  /// after another instantiates no generic type.
  func first(
    _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> ManagedObject? {
    guard let predicate = description.predicate else {
      return try firstPlanned(description, entity, nil)
    }
    let bound = try PredicateBinder.bind(predicate, to: entity, in: work.schema)
    if description.sortKeys.isEmpty, description.fetchOffset == 0, description.pageToken == nil,
      description.relationshipKeyPathsForPrefetching.isEmpty,
      let found = try lookUp(
        predicate, bound, entity, includesSubentities: description.includesSubentities,
        reader.overlay(for: description))
    {
      return found
    }
    return try firstPlanned(description, entity, bound)
  }

  /// The first object that a description names, whatever it asks for.
  ///
  /// - Parameter bound: The description's predicate, bound to the entity; nil without one.
  func firstPlanned(
    _ description: FetchDescription, _ entity: EntitySchema, _ bound: BoundPredicate?
  ) throws(ArborError) -> ManagedObject? {
    var description = description
    description.fetchLimit = 1
    let query = try reader.query(description, entity, bound)
    return try fetch(query, description, entity).first
  }

  /// Answers a predicate that names one unique value, perhaps with no object; nil where it states
  /// anything else, or somebody wants to know what takes long.
  ///
  /// - Parameter bound: The predicate, bound to the entity.
  func lookUp(
    _ predicate: FetchPredicate, _ bound: BoundPredicate, _ entity: EntitySchema,
    includesSubentities: Bool, _ overlay: FetchOverlay?
  ) throws(ArborError) -> ManagedObject?? {
    guard let value = bound.uniqueEquality, work.watch == nil else { return nil }
    try work.limitOperation(to: predicate.allowance)
    var isFetched = false
    let found = try onSnapshot { snapshot throws(StoreError) -> ManagedObject?? in
      let answer = try snapshot.lookUp(
        value, predicate.arguments, of: entity, includesSubentities: includesSubentities,
        overlay: overlay, allocator: work.allocator)
      switch answer {
      case .unplanned: return nil
      case .nothing: return .some(nil)
      case .row(let row):
        return try reader.object(of: row, work.allocator.slab, on: snapshot, &isFetched)
      }
    }
    if isFetched { found??.awakeFromFetch() }
    return found
  }

  /// Knows no class either.
  private func fetch(
    _ query: StoreQuery, _ description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> [ManagedObject] {
    let overlay = reader.overlay(for: description)
    let paths = try reader.prefetchPaths(description, of: entity)
    var fetched = FetchedObjects()
    // Hooks run when no snapshot is open and every object is in place: also those of objects that
    // were made before the operation was ended, since later fetches find them in the context.
    defer { fetched.awake() }
    return try onSnapshot { snapshot throws(StoreError) in
      let records = try snapshot.fetch(query, overlay: overlay, allocator: work.allocator)
      let results = try reader.materialise(records, on: snapshot, &fetched)
      for path in paths { try reader.prefetch(path, of: results, on: snapshot, &fetched) }
      return results
    }
  }

  /// The number of objects that a request would give, without reading them.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Int {
    try read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.count(query, overlay: overlay)
    }
  }

  /// Whether a request would give any object, without making one. Ends at the first.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func exists<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Bool {
    try read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.exists(query, overlay: overlay)
    }
  }

  /// The IDs of the objects that a request would give, without making objects or copying records.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchIDs<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [ObjectID] {
    try fetchNumbers(request).map { store.file.objectID($0) }
  }

  /// The numbers of the objects that a request would give.
  func fetchNumbers<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [ObjectNumber] {
    try read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.fetchNumbers(query, overlay: overlay)
    }
  }

  /// Makes values of the objects that a request would give, in one pass and without making them; of
  /// its limited results where it has a limit or an offset.
  ///
  /// Where all of them are minima and maxima of attributes that lead an index, and the predicate is
  /// none, or no more than equalities of its columns before and a range of the attribute, they are
  /// read from the ends of the index, whatever the number of objects.
  ///
  /// ```swift
  /// let figures = try context.aggregate(request, [.sum("salary"), .average("salary")])
  /// ```
  ///
  /// - Returns: The value of each aggregate, in their order.
  /// - Throws: ``ArborError`` as ``fetch(_:)``; `typeMismatch` where a function is not defined for
  ///   what its key path leads to.
  public func aggregate<T: ManagedObject>(
    _ request: FetchRequest<T>, _ aggregates: [Aggregate]
  ) throws(ArborError) -> [Value] {
    try read(request, aggregates) { snapshot, query, bound, overlay throws(StoreError) in
      try snapshot.aggregate(query, bound, overlay: overlay)
    }
  }

  private func read<T: ManagedObject, R>(
    _ request: FetchRequest<T>, _ aggregates: [Aggregate],
    _ body: (StoreSnapshot, StoreQuery, [BoundAggregate], FetchOverlay?) throws(StoreError) -> R
  ) throws(ArborError) -> R {
    try beginOperation()
    let entity = try reader.entity(for: request)
    let query = try reader.query(request.description, entity)
    var bound: [BoundAggregate] = []
    for aggregate in aggregates { bound.append(try aggregate.bind(to: entity, in: work.schema)) }
    let overlay = reader.overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in
      try body(snapshot, query, bound, overlay)
    }
  }

  /// How the store finds what a request asks for, as of the last commit.
  ///
  /// The plan is made of counts alone, no record is read. Where no count tells how many rows a step
  /// gives, it has an estimate; a fetch finds out, and may then find its rows by another plan.
  ///
  /// ```swift
  /// let plan = try context.explain(request, analyze: true)
  /// print(plan)
  /// if let index = plan.suggestedIndex { print("would help: \(index)") }
  /// ```
  ///
  /// - Parameters:
  ///   - request: What would be fetched.
  ///   - analyze: Whether the fetch is run, so that the plan is the one that ran, and every step
  ///     tells how many rows left it.
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func explain<T: ManagedObject>(
    _ request: FetchRequest<T>, analyze: Bool = false
  ) throws(ArborError) -> QueryPlan {
    try read(request) { snapshot, query, _ throws(StoreError) in
      try snapshot.explain(query, analyzes: analyze)
    }
  }

  /// How the store makes values of what a request asks for, as of the last commit.
  ///
  /// ```swift
  /// print(try context.explain(request, [.minimum("age")]))
  /// // aggregate minimum age
  /// // └ index Employee.age: first key · about 1 row
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``aggregate(_:_:)``.
  public func explain<T: ManagedObject>(
    _ request: FetchRequest<T>, _ aggregates: [Aggregate]
  ) throws(ArborError) -> QueryPlan {
    try read(request, aggregates) { snapshot, query, bound, _ throws(StoreError) in
      try snapshot.explain(query, bound)
    }
  }
}
