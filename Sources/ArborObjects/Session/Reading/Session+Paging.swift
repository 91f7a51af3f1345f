internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// Pages and cursors.
extension Session {
  /// Returns a page of results. See ``ManagedObjectContext/fetchPage(_:after:)``.
  func page<T: ManagedObject>(of request: FetchRequest<T>) throws(ArborError) -> FetchPage<T> {
    try beginOperation()
    let entity = try entity(for: request)
    var description = request.description
    let size = description.pageSize
    // Fetches one more object to find out whether there is a next page.
    description.fetchLimit = size + 1
    let query = try query(description, entity)
    try query.checkOrder()
    let overlay = overlay(for: description)
    let paths = try prefetchPaths(description, of: entity)
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    var next: RowContinuation?
    let results = try onSnapshot { snapshot throws(StoreError) in
      var records = try snapshot.fetch(query, overlay: overlay, allocator: allocator)
      if records.rows.count > size {
        records.rows.removeLast(records.rows.count - size)
        if let last = records.rows.last {
          next = try snapshot.continuation(of: last.number, in: query, overlay: overlay)
        }
      }
      let results = try materialise(records, on: snapshot, &fetched)
      for path in paths { try prefetch(path, of: results, on: snapshot, &fetched) }
      return results
    }
    let token = next.map { next in
      PageToken(
        values: next.values, number: next.number,
        fingerprint: description.fingerprint(storeID: engine.id)
      ).text
    }
    return FetchPage(objects: results.typed(), next: token)
  }

  /// Returns a cursor over the results of a request. See ``ManagedObjectContext/cursor(for:)``.
  ///
  /// - Parameter most: The maximum number of rows found by an index whose numbers are kept in
  ///   memory. If there are more, the cursor reads rows in batches.
  func cursor<T: ManagedObject>(
    for request: FetchRequest<T>, listingAtMost most: Int, in context: ManagedObjectContext
  ) throws(ArborError) -> FetchCursor<T> {
    try beginOperation()
    let description = request.description
    let entity = try entity(for: request)
    let query = try query(description, entity)
    let paths = try prefetchPaths(description, of: entity)
    let overlay = overlay(for: description)
    let (numbers, sequence) = try onSnapshot { snapshot throws(StoreError) in
      (try snapshot.listedNumbers(query, atMost: most, overlay: overlay), snapshot.sequence)
    }
    return FetchCursor(
      context, description, query, prefetching: paths, listed: numbers, at: sequence)
  }
}

extension StoreQuery {
  /// Rejects sort keys whose values change with every evaluation, such as `random()`.
  fileprivate func checkOrder() throws(ArborError) {
    guard let key = sortKeys.first(where: \.isFleeting) else { return }
    throw ArborError(
      .invalidArgument,
      "Pages cannot be ordered by \(key.text), whose value changes with each evaluation. Order by "
        + "a stable value, or fetch everything at once."
    ).with(entity: entity.name, keyPath: key.text)
  }
}

extension FetchDescription {
  private static let usualBatchSize = 100

  /// The number of objects to create at a time in batched access.
  var batchSize: Int { fetchBatchSize > 0 ? fetchBatchSize : Self.usualBatchSize }

  /// The number of objects per page.
  fileprivate var pageSize: Int { fetchLimit > 0 ? min(fetchLimit, .max - 1) : batchSize }

  /// Returns the position after which the request's results begin, according to its token, or `nil`
  /// if it has none.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the token is malformed or belongs to another
  ///   request.
  func continuation(storeID: UUID) throws(ArborError) -> RowContinuation? {
    guard let text = pageToken else { return nil }
    let token = try PageToken(text)
    guard token.fingerprint == fingerprint(storeID: storeID),
      token.values.count == resultOrder.count
    else {
      throw ArborError(
        .invalidArgument,
        "The page token belongs to another request or store. Use it with the same entity, "
          + "predicate and sort keys as the page that returned it."
      ).with(entity: entityName)
    }
    return RowContinuation(values: token.values, number: token.number)
  }
}
