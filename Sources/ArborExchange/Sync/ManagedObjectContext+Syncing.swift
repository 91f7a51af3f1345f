import ArborJSON
public import ArborModel
public import ArborObjects

/// Synchronizing objects with a payload.
extension ManagedObjectContext {
  /// Synchronizes the objects of an entity with a payload, as specified by a serializer. Nothing is
  /// committed.
  ///
  /// A JSON array describes several objects, a JSON object a single one, and null has no effect.
  /// Uncommitted objects are matched, too. All objects matching the payload are looked up in one
  /// fetch per entity and set of groupers.
  ///
  /// With `deleteMissing`, objects that no item of the payload refers to are deleted at the end. An
  /// object that is missing from one list but named in another is kept.
  ///
  /// - Parameters:
  ///   - source: The payload.
  ///   - serializer: The serializer for the payload.
  /// - Returns: A report of the changes.
  /// - Throws: ``ArborError`` `malformedDocument` and `fileUnreadable`; `missingIdentity` if an
  ///   item lacks an identifier; an error if an item or the serializer doesn't fit the model; any
  ///   error from the store. The context is unchanged in that case.
  /// - Complexity: Linear in the size of the payload and, with `deleteMissing`, in the number of
  ///   objects within the groupers.
  @discardableResult
  public func sync(
    from source: JSONSource, using serializer: some SyncSerializer
  ) throws(ArborError) -> SyncReport {
    let plan = ExchangePlan(self)
    try plan.limit.checkNow()
    let document = try source.document(work: plan.limit.work)
    let mapper = SyncMapper(self)
    let mapping = try mapper.mapping(for: serializer)
    let root = document.root
    guard root.kind != .null else { return SyncReport() }
    return try withSavepoint { () throws(ArborError) in
      let run = ExchangeRun(plan)
      if mapping.rules.deletesMissing {
        let request = FetchRequest<ManagedObject>(
          entity: mapping.entity.name, predicate: mapping.rules.scope)
        try run.noteMissing(fetch(request), within: nil)
      }
      let items =
        root.kind == .array
        ? root.items : JSONElements(only: root.tapeIndex, in: root.document)
      try run.carryOut(plan.enterItems(items, mapping))
      try run.deleteMissing()
      run.counts.dropped = plan.droppedCount
      return SyncReport(run.counts)
    }
  }
}

extension PersistentStore {
  /// Synchronizes the objects of an entity with a payload and commits, all or nothing. Contexts
  /// merge the commit at their next operation.
  ///
  /// Runs in the store's background context, after the closures that were enqueued earlier. See
  /// ``ManagedObjectContext/sync(from:using:)``.
  ///
  /// ```swift
  /// let report = try await store.sync(from: .data(response), using: EmployeeSerializer())
  /// print("\(report.inserted) new, \(report.updated) changed, \(report.unchanged) as they were")
  /// ```
  ///
  /// - Returns: A report of the changes.
  /// - Throws: The same errors as ``ManagedObjectContext/sync(from:using:)`` and `commit()`.
  @discardableResult
  public func sync(
    from source: JSONSource, using serializer: some SyncSerializer
  ) async throws(ArborError) -> SyncReport {
    do {
      return try await performBackground { context in
        try context.sync(from: source, using: serializer)
      }
    } catch {
      throw ArborError(byModel: error)
    }
  }
}
