package import ArborModel
internal import ArborStore

/// Lookup by a unique index.
extension Session {
  /// Returns the objects of an entity with one of many integer values in an attribute, using one
  /// scan of a unique index instead of a query.
  ///
  /// - Parameter values: The values, ascending and without duplicates.
  /// - Returns: The objects, or `nil` if there is no unique index of this attribute alone, if there
  ///   are pending changes, or if queries are being observed. Use a fetch in these cases.
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  package func objects(
    of entity: EntitySchema, withUnique values: [Int64], atSlot slot: Int
  ) throws(ArborError) -> [ManagedObject]? {
    try beginOperation()
    guard pending.count == 0, watch?.threshold == nil else { return nil }
    var fetched = FetchedObjects()
    let found = try onSnapshot { snapshot throws(StoreError) -> [ObjectNumber]? in
      guard let numbers = try snapshot.numbers(withUnique: values, at: slot, of: entity) else {
        return nil
      }
      try load(numbers.sorted(), on: snapshot, &fetched)
      if let lost = numbers.first(where: { !registry.map.contains($0) }) {
        throw .corrupted(
          entity: entity.name, object: lost,
          what: "a unique index names an object without a record")
      }
      return numbers
    }
    fetched.awake()
    return found?.compactMap { registry.object($0) }
  }
}
