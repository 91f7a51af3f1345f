public import ArborModel

/// Batched access to many objects.
extension ManagedObjectContext {
  /// Returns the objects with the given IDs, read in one pass over the store.
  ///
  /// - Returns: The objects in the order of their IDs. IDs of objects that don't exist or are
  ///   deleted in this context are skipped.
  /// - Throws: ``ArborError`` `invalidArgument` if an ID belongs to another store or its entity is
  ///   unknown, and any error from the store.
  public func objects(with ids: [ObjectID]) throws(ArborError) -> [ManagedObject] {
    try session.beginOperation()
    return try session.existingObjects(ids.map(session.number))
  }

  /// Returns a cursor over the results of a request, which holds one batch of objects in memory at
  /// a time, regardless of their number (see ``FetchRequest/fetchBatchSize``).
  ///
  /// If an index provides the order, or if there are no sort keys, rows are read in batches, each
  /// starting where the previous one ended (keyset pagination). A list of eight bytes per row is
  /// kept in two cases: if an index finds at most 65,536 rows, and if no index provides the order,
  /// so that the rows have to be sorted. The latter includes strings that are too long for an index
  /// key. Without sort keys, a predicate that finds more rows is evaluated for every object of the
  /// entity.
  ///
  /// No snapshot is held between batches, so writers are not blocked from reusing pages. Every
  /// object that matches the request and keeps its position in the order while the cursor advances
  /// is returned exactly once. Objects that are inserted or changed ahead of the cursor may be
  /// returned, but only if they match when their batch is read. An object of the current batch that
  /// the loop moves ahead isn't returned again, which costs eight bytes for each such object.
  ///
  /// ```swift
  /// let cursor = try context.cursor(for: FetchRequest<Employee>(sortKeys: ["age"]))
  /// while let employee = try cursor.next() { print(employee.name) }
  /// ```
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func cursor<T: ManagedObject>(
    for request: FetchRequest<T>
  ) throws(ArborError) -> FetchCursor<T> {
    try cursor(for: request, listingAtMost: 65_536)
  }

  /// Returns a cursor that keeps the numbers of the rows an index finds, if there are at most
  /// `most` of them.
  package func cursor<T: ManagedObject>(
    for request: FetchRequest<T>, listingAtMost most: Int
  ) throws(ArborError) -> FetchCursor<T> {
    try session.cursor(for: request, listingAtMost: most, in: self)
  }

  /// Returns one page of a request's results. The page size is the request's limit, or its batch
  /// size if it has no limit.
  ///
  /// ```swift
  /// var request = FetchRequest<Employee>(sortKeys: ["-age", "name"])
  /// request.fetchLimit = 50
  /// let page = try context.fetchPage(request, after: token)
  /// show(page.objects)
  /// remember(page.next)
  /// ```
  ///
  /// A page continues where the previous one ended, based on the sort keys and number of its last
  /// object (keyset pagination). Objects that are inserted or deleted between two pages neither
  /// shift nor repeat other results. A token is a string that remains valid after the context,
  /// store or process is closed. It is specific to one store, entity, predicate and sort order. The
  /// request's offset applies to the first page only.
  ///
  /// The cost is that of a fetch with the same limit: the rows of the page if an index provides the
  /// order or there are no sort keys. Otherwise every row is examined, but memory is used for one
  /// page only.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - token: The ``FetchPage/next`` token of the previous page, or `nil` for the first page.
  /// - Throws: The same errors as ``fetch(_:)``; also `invalidArgument` if the token is malformed
  ///   or belongs to another request, or if the order depends on the current time or on random
  ///   values.
  public func fetchPage<T: ManagedObject>(
    _ request: FetchRequest<T>, after token: String? = nil
  ) throws(ArborError) -> FetchPage<T> {
    try session.page(of: request.page(after: token))
  }
}
