package import ArborModel
internal import ArborStore

/// Objects by the values of a unique index.
extension Session {
  /// The objects of an entity that have one of many whole numbers in an attribute, where a unique
  /// index finds them: in one scan of it, without a query.
  ///
  /// - Parameter values: Ascending, each once.
  /// - Returns: nil where no index has the attribute alone, where changes wait for a commit, and
  ///   where queries are watched: a fetch finds the objects then.
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
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
