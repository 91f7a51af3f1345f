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
    var numbers: [ObjectNumber] = []
    numbers.reserveCapacity(ids.count)
    for id in ids { numbers.append(try number(of: id)) }
    return try existingObjects(numbers)
  }

  /// The objects of several numbers that exist, in the order of the numbers.
  func existingObjects(
    _ numbers: some Collection<ObjectNumber>
  ) throws(ArborError) -> [ManagedObject] {
    var fetched: [ManagedObject] = []
    try onSnapshot { snapshot throws(StoreError) in
      var missing = numbers.filter { registry.object($0)?.base == nil }.map(\.rawValue)
      missing.sort()
      var last: UInt64 = 0
      missing.removeAll { raw in
        defer { last = raw }
        return raw == last
      }
      try load(missing.map { ObjectNumber(rawValue: $0) }, on: snapshot, &fetched)
    }
    let objects = numbers.compactMap { number -> ManagedObject? in
      guard let object = registry.object(number), object.base != nil, !object.isDeleted else {
        return nil
      }
      return object
    }
    for object in fetched { object.awakeFromFetch() }
    return objects
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

  /// The results of a request one after another.
  ///
  /// Without sort keys and without an index to use, objects and memory are those of one batch,
  /// however many results there are; objects that others commit while the cursor moves are met
  /// where they lie ahead. Otherwise the rows are those of the moment of the call, and take eight
  /// bytes each.
  ///
  /// ```swift
  /// let cursor = try context.cursor(for: FetchRequest<Employee>())
  /// while let employee = try cursor.next() { print(employee.name) }
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func cursor<T: ManagedObject>(
    for request: FetchRequest<T>
  ) throws(ArborError) -> FetchCursor<T> {
    let isWhole = request.fetchLimit == 0 && request.fetchOffset == 0
    guard isWhole, request.sortKeys.isEmpty, try explain(request).access.kind == .scan else {
      return FetchCursor(self, .numbers(try fetchNumbers(request)[...]), request)
    }
    return FetchCursor(self, .pages(request), request)
  }
}
