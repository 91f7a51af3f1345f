package import ArborModel
internal import ArborStore
internal import ArborWork

/// Reading along what relationships of fetched objects lead to, level by level: the members of all
/// owners in one pass over the relationship, then their records in one pass over the entity.
extension ManagedObjectContext {
  /// Resolves the paths of a request.
  ///
  /// - Throws: ``ArborError`` `unknownName` for a name that is no relationship.
  func prefetchPaths(
    _ paths: [String], of entity: EntitySchema
  ) throws(ArborError) -> [[RelationshipSchema]] {
    var resolved: [[RelationshipSchema]] = []
    for path in paths {
      var hops: [RelationshipSchema] = []
      var entity = entity
      for name in path.split(separator: ".", omittingEmptySubsequences: false) {
        guard case .relationship(let relationship) = entity.property(named: String(name)) else {
          throw ArborError(
            .unknownName,
            "Entity \(entity.name) has no relationship \(name) to prefetch."
              + NearestName.hint(String(name), in: entity.propertyNames)
          ).with(entity: entity.name, keyPath: path)
        }
        hops.append(relationship)
        entity = work.schema.entities[relationship.destination]
      }
      resolved.append(hops)
    }
    return resolved
  }

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
