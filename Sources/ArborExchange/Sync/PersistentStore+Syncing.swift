public import ArborJSON
public import ArborObjects

extension PersistentStore {
  /// Brings the objects of an entity into agreement with a payload and commits, all of it or
  /// nothing. Contexts take the commit in at their next operation.
  ///
  /// Works in the store's background context, after what it was asked before; see
  /// ``ManagedObjectContext/sync(_:using:)``.
  ///
  /// ```swift
  /// let report = try await store.sync(json, using: EmployeeSerializer())
  /// print("\(report.inserted) new, \(report.updated) changed, \(report.unchanged) as they were")
  /// ```
  ///
  /// - Returns: What was done.
  /// - Throws: ``ArborError`` as in a context, and as `commit()` does.
  @discardableResult
  public func sync(
    _ json: JSONValue, using serializer: some SyncSerializer
  ) async throws -> SyncReport {
    try await performBackground { context in try context.sync(json, using: serializer) }
  }
}
