internal import ArborModel
internal import LMDB

/// The indexes and references for which an object's entries are collected.
struct CollectedParts {
  var indexes: [WritePlan.Index]
  var references: [WritePlan.Reference]
  /// The references whose removal is only noted for derived values.
  var noted: [WritePlan.Reference] = []

  /// Creates parts that contain all indexes and references of an entity's plan.
  init(_ plan: WritePlan) {
    indexes = plan.indexes
    references = plan.references
  }
}

/// Deletes a large part of an entity's objects.
///
/// Finding each object's entries requires encoding and sorting its keys, one per word of a text. If
/// many objects are deleted, the whole index is rewritten, for which their numbers are sufficient.
extension CommitPreparation {
  private static var fewDeletions: Int { 1 << 10 }
  /// The maximum ratio of all objects to deleted ones.
  private static var largestRatio: Int { 4 }

  /// Returns the parts for which entries of an entity's deleted objects have to be collected
  /// individually, or `nil` for all parts. The other entries are removed through
  /// ``CommitWorkspace/swept``.
  ///
  /// - Parameter changes: The changes of one entity, in the order of their numbers.
  func partsOfDeleted(
    _ changes: ArraySlice<Change>, _ plan: WritePlan
  ) throws(StoreError) -> CollectedParts? {
    guard sweeps, changes.count >= Self.fewDeletions else { return nil }
    let count = changes.reduce(0) { $1.record == nil ? $0 + 1 : $0 }
    guard count >= Self.fewDeletions else { return nil }
    var parts = CollectedParts(plan)
    parts.indexes = []
    var sweptIndexes: [Int] = []
    for index in plan.indexes {
      if try isWorthwhile(index, count) {
        sweptIndexes.append(index.number)
      } else {
        parts.indexes.append(index)
      }
    }
    var sweptRelationships: [Int] = []
    for case let relationshipIndex? in plan.references.map(\.derivedIndex)
    where try isWorthwhile(relationshipIndex, count) {
      sweptRelationships.append(relationshipIndex)
    }
    guard !sweptIndexes.isEmpty || !sweptRelationships.isEmpty,
      workspace.swept.insert(deletionsOf: changes, count: count)
    else { return nil }
    func isSwept(_ reference: WritePlan.Reference) -> Bool {
      reference.derivedIndex.map(sweptRelationships.contains) ?? false
    }
    if workspace.derived != nil { parts.noted = parts.references.filter(isSwept) }
    parts.references.removeAll(where: isSwept)
    for number in sweptIndexes { workspace.indexes[number].isSwept = true }
    for relationshipIndex in sweptRelationships {
      workspace.relationships[relationshipIndex]?.isSwept = true
    }
    return parts
  }

  /// Returns whether `count` objects are a large part of those in an index.
  private func isWorthwhile(_ index: WritePlan.Index, _ count: Int) throws(StoreError) -> Bool {
    let maintainer = workspace.indexes[index.number]
    // The deleted objects may be those that are not in a partial index.
    guard !maintainer.isPartial else { return false }
    let family = store.schema.entities[maintainer.index.schema.declaringEntity].concreteFamily
    return try storing { () throws(LMDBError) in
      var objects = 0
      for entity in family {
        objects += try reader.entryCount(store.databases.records(entity))
      }
      return objects <= count * Self.largestRatio
    }
  }

  /// Returns whether `count` objects are a large part of the members of a relationship.
  private func isWorthwhile(_ relationship: Int, _ count: Int) throws(StoreError) -> Bool {
    // Limits on the number of members are checked owner by owner.
    guard let maintainer = workspace.relationships[relationship],
      !workspace.counted.contains(relationship)
    else { return false }
    return try storing { () throws(LMDBError) in
      let members = try reader.entryCount(maintainer.relationship.members)
      return members <= count * Self.largestRatio
    }
  }
}
