import ArborJSON
public import ArborModel
public import ArborObjects

/// Bringing objects into agreement with a payload.
extension ManagedObjectContext {
  /// Brings the objects of an entity into agreement with a payload, as a serializer says. Nothing
  /// is committed.
  ///
  /// Null does nothing. A list describes several objects, an object one. Uncommitted objects are
  /// matched too; all matches of the payload are looked up in one fetch for each entity and set of
  /// groupers.
  ///
  /// With `deleteMissing`, objects that no item of the payload has spoken of are deleted at the
  /// end: one that a list lacks and another one names stays.
  ///
  /// - Parameters:
  ///   - source: The payload.
  ///   - serializer: How it is understood.
  /// - Returns: What was done.
  /// - Throws: ``ArborError`` `malformedDocument` and `fileUnreadable`; `missingIdentity` if an item
  ///   lacks an identifier; if an item or the serializer does not fit the model, and what the store
  ///   reports. The context is then exactly as it was.
  /// - Complexity: Linear in the size of the payload; with `deleteMissing` also in the number of
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
  /// Brings the objects of an entity into agreement with a payload and commits, all of it or
  /// nothing. Contexts take the commit in at their next operation.
  ///
  /// Works in the store's background context, after what it was asked before; see
  /// ``ManagedObjectContext/sync(from:using:)``.
  ///
  /// ```swift
  /// let report = try await store.sync(from: .data(response), using: EmployeeSerializer())
  /// print("\(report.inserted) new, \(report.updated) changed, \(report.unchanged) as they were")
  /// ```
  ///
  /// - Returns: What was done.
  /// - Throws: ``ArborError`` as in a context, and as `commit()` does.
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
