public import ArborModel

/// Many objects, a part of them at a time.
extension ManagedObjectContext {
  /// The objects of several IDs, read in one pass over the store.
  ///
  /// - Returns: The objects in the order of their IDs. IDs of objects that do not exist, or that
  ///   are deleted in this context, are left out.
  /// - Throws: ``ArborError`` `invalidArgument` for an ID of another store or an unknown entity,
  ///   and what the store reports.
  public func objects(with ids: [ObjectID]) throws(ArborError) -> [ManagedObject] {
    try session.beginOperation()
    return try session.existingObjects(ids.map(session.number))
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
  /// objects that are inserted or changed meanwhile, those that lie ahead may be met, though none
  /// that does not match when its batch is read. An object of the batch at hand that the loop moves
  /// ahead is not met again, at eight bytes for each of them.
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
  package func cursor<T: ManagedObject>(
    for request: FetchRequest<T>, listingAtMost most: Int
  ) throws(ArborError) -> FetchCursor<T> {
    try session.cursor(for: request, listingAtMost: most, in: self)
  }

  /// Fetches one page of a request's results: as many as its limit says, or without a limit its
  /// batch size.
  ///
  /// ```swift
  /// var request = FetchRequest<Employee>(sortKeys: ["-age", "name"])
  /// request.fetchLimit = 50
  /// let page = try context.fetchPage(request, after: token)
  /// show(page.objects)
  /// remember(page.next)
  /// ```
  ///
  /// A page goes on where the one before it ended, by what the sort keys of its last object were
  /// and by its number: objects that were inserted or deleted meanwhile neither shift the others
  /// nor repeat them. A token is a text that outlives context, store and process; it belongs to
  /// one store, entity, predicate and order. The request's offset counts for the first page only.
  ///
  /// Costs what a fetch with that limit costs: with the order of an index, or without sort keys,
  /// the rows of the page; else a look at every row, but memory for one page only.
  ///
  /// - Parameters:
  ///   - request: What to fetch.
  ///   - token: ``FetchPage/next`` of the page before; `nil` for the first.
  /// - Throws: ``ArborError`` as ``fetch(_:)``; `invalidArgument` for a token that is none, or of
  ///   another request, and for an order by the time or by chance.
  public func fetchPage<T: ManagedObject>(
    _ request: FetchRequest<T>, after token: String? = nil
  ) throws(ArborError) -> FetchPage<T> {
    try session.page(of: request.page(after: token))
  }
}
