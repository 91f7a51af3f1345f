package import ArborModel
internal import ArborStore
internal import ArborWork

/// Reading along what relationships of fetched objects lead to, level by level: the members of all
/// owners in one pass over the relationship, then their records in one pass over the entity.
extension ManagedObjectContext {
  /// Reads what a relationship leads to from some objects, so that following it asks the store
  /// nothing as long as no further commit is taken in.
  ///
  /// - Precondition: The objects have the relationship and are not deleted.
  /// - Throws: ``ArborError``: what the store reports.
  /// - Complexity: One pass over the relationship and one over the entity that it leads to.
  package func prefetch(
    _ slots: PropertySlots, of owners: [ManagedObject]
  ) throws(ArborError) {
    guard let hop = owners.first?.relation(at: slots).schema else { return }
    var fetched = FetchedObjects()
    try onSnapshot { snapshot throws(StoreError) in
      try reader.prefetch([hop], of: owners, on: snapshot, &fetched)
    }
    fetched.awake()
  }
}
