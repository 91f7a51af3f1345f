internal import ArborModel
internal import LMDB

/// What of an object's record is collected for indexes and relationships.
struct CollectedParts {
  var indexes: [WritePlan.Index]
  var references: [WritePlan.Reference]

  /// Everything.
  init(_ plan: WritePlan) {
    indexes = plan.indexes
    references = plan.references
  }
}

/// Deleting a good part of an entity's objects.
///
/// Finding each object's entries takes its keys, one for each word of a text, which have to be made
/// and sorted. Where many objects go, the whole index is written anew, and knowing their numbers is
/// enough.
extension CommitPreparation {
  private static var fewDeletions: Int { 1 << 10 }
  /// Of so many objects one has to go.
  private static var largestRatio: Int { 4 }

  /// What has to be collected of deleted objects of an entity one by one; nil for everything. The
  /// rest of their entries is dropped by ``CommitWorkspace/swept``.
  ///
  /// - Parameter changes: Of one entity, in the order of their numbers.
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
    parts.references.removeAll { reference in
      reference.derivedIndex.map(sweptRelationships.contains) ?? false
    }
    for number in sweptIndexes { workspace.indexes[number].isSwept = true }
    for relationshipIndex in sweptRelationships {
      workspace.relationships[relationshipIndex]?.isSwept = true
    }
    return parts
  }

  /// Whether so many objects are a good part of those in an index.
  private func isWorthwhile(_ index: WritePlan.Index, _ count: Int) throws(StoreError) -> Bool {
    let maintainer = workspace.indexes[index.number]
    // Those that go may be the ones that are not in a partial index.
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

  /// Whether so many objects are a good part of the members of a relationship.
  private func isWorthwhile(_ relationship: Int, _ count: Int) throws(StoreError) -> Bool {
    guard let maintainer = workspace.relationships[relationship] else { return false }
    return try storing { () throws(LMDBError) in
      let members = try reader.entryCount(maintainer.relationship.members)
      return members <= count * Self.largestRatio
    }
  }
}
