public import ArborModel
internal import ArborStore

/// Many objects, a part of them at a time.
extension ManagedObjectContext {
  /// The objects of several IDs, read in one pass over the store.
  ///
  /// - Returns: The objects in the order of their IDs. IDs of objects that do not exist, or that
  ///   are deleted in this context, are left out.
  /// - Throws: ``ArborError`` `invalidArgument` for an ID of another store or an unknown entity,
  ///   and what the store reports.
  public func objects(with ids: [ObjectID]) throws(ArborError) -> [ManagedObject] {
    try beginOperation()
    return try existingObjects(ids.map(number))
  }

  /// The objects of several numbers that exist, in the order of the numbers.
  ///
  /// - Parameter paths: The relationships whose objects are read too.
  func existingObjects(
    _ numbers: some Collection<ObjectNumber>, prefetching paths: [[RelationshipSchema]] = []
  ) throws(ArborError) -> [ManagedObject] {
    try work.limitOperation()
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    return try onSnapshot { snapshot throws(StoreError) -> [ManagedObject] in
      let objects = try reader.existing(numbers, on: snapshot, &fetched)
      for path in paths { try reader.prefetch(path, of: objects, on: snapshot, &fetched) }
      return objects
    }
  }

  /// The results of a request as a collection that holds eight bytes an object and makes the
  /// objects of a batch when one of them is asked for.
  ///
  /// For tables of which a part is shown. The rows are those of the moment of the call; their
  /// values are read later. See ``FetchRequest/fetchBatchSize``.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchWindow<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> FetchedWindow<T> {
    FetchedWindow(self, try fetchNumbers(request), batchSize: request.description.batchSize)
  }

  /// The results of a request one after another, in memory for a batch of them however many there
  /// are (see ``FetchRequest/fetchBatchSize``).
  ///
  /// With the order of an index, or without sort keys, rows are read a batch at a time, each batch
  /// behind the one before it. Lists of eight bytes a row are kept in two cases: where an index
  /// finds no more than 65,536 rows, and where no index has the order that is asked for, so that
  /// the rows have to be sorted; texts too long for an index key count as that. Without sort keys,
  /// predicates that find more rows are asked of each object of the entity.
  ///
  /// No snapshot is kept between batches, so that commits can go on meanwhile. Every object that
  /// fulfils the request while the cursor moves, and keeps its place in the order, is met once. Of
  /// objects that are inserted or changed meanwhile, those that lie ahead may be met. An object of
  /// the batch at hand that the loop moves ahead is not met again, at eight bytes for each of them.
  ///
  /// ```swift
  /// let cursor = try context.cursor(for: FetchRequest<Employee>(sortKeys: ["age"]))
  /// while let employee = try cursor.next() { print(employee.name) }
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func cursor<T: ManagedObject>(
    for request: FetchRequest<T>
  ) throws(ArborError) -> FetchCursor<T> {
    try cursor(for: request, listingAtMost: 65_536)
  }

  /// A cursor that lists the rows an index finds only where they are few.
  ///
  /// - Parameter most: How many rows are few.
  package func cursor<T: ManagedObject>(
    for request: FetchRequest<T>, listingAtMost most: Int
  ) throws(ArborError) -> FetchCursor<T> {
    try beginOperation()
    let description = request.description
    let entity = try reader.entity(for: request)
    let query = try reader.query(description, entity)
    let paths = try reader.prefetchPaths(description, of: entity)
    let overlay = reader.overlay(for: description)
    let numbers = try onSnapshot { snapshot throws(StoreError) in
      try snapshot.listedNumbers(query, atMost: most, overlay: overlay)
    }
    return FetchCursor(self, description, query, prefetching: paths, listed: numbers)
  }
}
