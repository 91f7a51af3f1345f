internal import ArborModel
internal import LMDB

/// Checks that relationships will have as many members as the model allows.
///
/// A context checks this before it commits, but two commits that change different members of one
/// owner have no record in common, so only the writer knows the resulting number.
extension CommitPreparation {
  /// - Throws: `miscounted`, in which case nothing has been written.
  func checkCounts() throws(StoreError) {
    var miscounted: [MiscountedMembers] = []
    for relationshipIndex in workspace.counted {
      if let ordered = workspace.ordered[relationshipIndex] {
        for outcome in ordered.outcomes {
          check(outcome.members.count, of: outcome.owner, relationshipIndex, &miscounted)
        }
      } else if let maintainer = workspace.relationships[relationshipIndex] {
        try checkCounts(maintainer, relationshipIndex, &miscounted)
      }
    }
    if !miscounted.isEmpty { throw .miscounted(miscounted) }
  }

  private func checkCounts(
    _ maintainer: RelationshipMaintainer, _ relationshipIndex: Int,
    _ miscounted: inout [MiscountedMembers]
  ) throws(StoreError) {
    let relationship = maintainer.relationship
    let stored = StoredMembers(store: store, reader: reader)
    var start = 0
    while start < maintainer.run.count {
      let end = maintainer.run.endOfOwner(start)
      defer { start = end }
      let owner = maintainer.run[start].owner
      if change(of: owner)?.kind == .delete { continue }
      // Without an effect on its members, the owner may even be gone.
      var isAffected = false
      let count = try storing { () throws(LMDBError) in
        var count = try stored.count(relationship.schema, of: owner)
        for index in start..<end {
          let change = maintainer.run[index]
          // Edits of links may have no effect, those of fields always have one.
          if relationship.schema.storage == .links {
            let isStored = try relationship.contains(change.member, of: owner, reader)
            if change.isRemoval != isStored { continue }
          }
          count += change.isRemoval ? -1 : 1
          isAffected = true
        }
        return count
      }
      if isAffected { check(count, of: owner, relationshipIndex, &miscounted) }
    }
  }

  private func check(
    _ count: Int, of owner: ObjectNumber, _ relationshipIndex: Int,
    _ miscounted: inout [MiscountedMembers]
  ) {
    let schema = store.databases.relationships[relationshipIndex].schema
    guard let problem = schema.problem(ofCount: count) else { return }
    miscounted.append(
      MiscountedMembers(owner: owner, relationship: schema.name, problem: problem))
  }
}
