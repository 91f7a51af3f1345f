internal import ArborModel
internal import ArborStore

/// Fetching values instead of objects, and full-text search.
extension Session {
  /// Runs `body` with the newest snapshot, a request's query, and the pending changes to merge.
  @inline(__always)
  func read<T: ManagedObject, R>(
    _ request: FetchRequest<T>,
    _ body: (StoreSnapshot, StoreQuery, (any PendingState)?) throws(StoreError) -> R
  ) throws(ArborError) -> R {
    try beginOperation()
    let query = try query(request.description, entity(for: request))
    let overlay = overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in try body(snapshot, query, overlay) }
  }

  /// Runs `body` with the newest snapshot, a request's query, bound aggregates, and the pending
  /// changes to merge.
  func read<T: ManagedObject, R>(
    _ request: FetchRequest<T>, _ aggregates: [AggregateExpression],
    _ body: (StoreSnapshot, StoreQuery, [BoundAggregate], (any PendingState)?) throws(StoreError) ->
      R
  ) throws(ArborError) -> R {
    try beginOperation()
    let entity = try entity(for: request)
    let query = try query(request.description, entity)
    var bound: [BoundAggregate] = []
    for aggregate in aggregates { bound.append(try aggregate.bind(to: entity, in: schema)) }
    let overlay = overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in
      try body(snapshot, query, bound, overlay)
    }
  }

  /// Returns the rows of a request. See ``ManagedObjectContext/fetchRows(_:)``.
  func rows<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [[String:
    PropertyValue]]
  {
    try withRows(request) { snapshot, query, plan, overlay throws(StoreError) in
      try snapshot.rows(query, plan, overlay: overlay)
        .map { Dictionary(uniqueKeysWithValues: zip(plan.names, $0)) }
    }
  }

  /// Calls a closure with each row of a request as it is read, with its column values in order,
  /// until it returns `false`.
  func forEachRow<T: ManagedObject>(
    _ request: FetchRequest<T>, _ body: ([PropertyValue]) -> Bool
  ) throws(ArborError) {
    try withRows(request) { snapshot, query, plan, overlay throws(StoreError) in
      try snapshot.forEachRow(query, plan, overlay: overlay, body)
    }
  }

  private func withRows<T: ManagedObject, R>(
    _ request: FetchRequest<T>,
    _ body: (StoreSnapshot, StoreQuery, RowPlan, (any PendingState)?) throws(StoreError) -> R
  ) throws(ArborError) -> R {
    try beginOperation()
    let entity = try entity(for: request)
    let plan = try RowPlan(request.description, of: entity, in: schema)
    var description = request.description
    // The plan contains the order, which may refer to columns.
    description.sortKeys = []
    description.pageToken = nil
    let query = try query(description, entity)
    let overlay = overlay(for: description)
    return try onSnapshot { snapshot throws(StoreError) in
      try body(snapshot, query, plan, overlay)
    }
  }

  /// Searches the text of a request's objects. See
  /// ``ManagedObjectContext/search(_:_:in:matching:weights:limit:offset:)-(T.Type,_,_,_,_,_,_)``.
  func search<T: ManagedObject>(
    _ request: FetchRequest<T>, _ text: String, _ index: String?, _ weights: [PropertyPath: Double],
    limit: Int, offset: Int
  ) throws(ArborError) -> [SearchHit<T>] {
    try beginOperation()
    let entity = try entity(for: request)
    let words = try WordIndex(named: index, of: entity, in: schema.model)
    let search = TextSearch(
      SearchText(text), in: try words.columns(weights),
      of: try query(request.description, entity), limit: limit, offset: offset)
    let overlay = overlay(for: request.description)
    var scores: [ObjectNumber: Double] = [:]
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    let objects = try onSnapshot { snapshot throws(StoreError) in
      let rows = try snapshot.search(search, overlay: overlay)
      for row in rows { scores[row.number] = row.score }
      return try existing(rows.map(\.number), on: snapshot, &fetched)
    }
    // All objects of the entity have its class, which has been checked.
    return objects.map { object in
      SearchHit(
        object: unsafeDowncast(object, to: T.self), score: scores[object.number] ?? 0,
        text: search.text, attributes: words.attributes)
    }
  }

  /// Returns whether two objects may have equal values for all sort keys of a request.
  func agree<T: ManagedObject>(
    _ numbers: [ObjectNumber], in request: FetchRequest<T>
  ) throws(ArborError) -> Bool {
    guard numbers.count == 2 else { return false }
    return try read(request) { snapshot, query, overlay throws(StoreError) in
      let first = try snapshot.continuation(of: numbers[0], in: query, overlay: overlay)
      let second = try snapshot.continuation(of: numbers[1], in: query, overlay: overlay)
      guard let first, let second else { return true }
      // Strings can be equal in the sort order without being identical. In that case the slow path
      // is taken unnecessarily.
      return !zip(request.description.resultOrder, zip(first.values, second.values)).contains {
        key, values in
        key.options.isEmpty && PropertyValue.compare(values.0, values.1) != .equal
      }
    }
  }
}
