internal import ArborModel
internal import LMDB

/// Checks that all link targets of a change set will exist.
extension CommitPreparation {
  func checkTargets() throws(StoreError) {
    var missing: [MissingTarget] = []
    for relationship in workspace.relationships {
      guard let relationship, relationship.run.count > 0 else { continue }
      if relationship.relationship.schema.storage == .derived {
        try checkDerived(relationship, &missing)
      } else {
        try checkLinks(relationship, &missing)
      }
    }
    for (index, ordered) in workspace.ordered.enumerated() {
      guard let ordered, !ordered.isEmpty else { continue }
      let name = store.databases.relationships[index].schema.name
      for outcome in ordered.outcomes {
        try check([outcome.owner] + outcome.joining, of: outcome.owner, name, &missing)
      }
    }
    for claim in workspace.claims where try !willExist(claim.target) {
      missing.append(
        MissingTarget(
          owner: claim.owner, relationship: name(of: claim.owner, slot: claim.slot),
          target: claim.target))
    }
    if !missing.isEmpty { throw .missingTargets(missing) }
  }

  /// Checks the owners of a derived relationship. They are the targets of the members' fields, so
  /// one lookup covers all members of an owner.
  private func checkDerived(
    _ maintainer: RelationshipMaintainer, _ missing: inout [MissingTarget]
  ) throws(StoreError) {
    let schema = maintainer.relationship.schema
    var start = 0
    while start < maintainer.run.count {
      let end = maintainer.run.endOfOwner(start)
      defer { start = end }
      guard let joining = (start..<end).first(where: { !maintainer.run[$0].isRemoval }) else {
        continue
      }
      let owner = maintainer.run[start].owner
      if try willExist(owner) { continue }
      for index in joining..<end where !maintainer.run[index].isRemoval {
        let inverse = store.schema.entities[schema.destination].relationships[schema.inverseSlot]
        missing.append(
          MissingTarget(
            owner: maintainer.run[index].member, relationship: inverse.name, target: owner))
      }
    }
  }

  private func checkLinks(
    _ maintainer: RelationshipMaintainer, _ missing: inout [MissingTarget]
  ) throws(StoreError) {
    let name = maintainer.relationship.schema.name
    var last: ObjectNumber?
    for index in 0..<maintainer.run.count where !maintainer.run[index].isRemoval {
      let change = maintainer.run[index]
      var objects = [change.member]
      if change.owner != last { objects.append(change.owner) }
      last = change.owner
      try check(objects, of: change.owner, name, &missing)
    }
  }

  private func check(
    _ objects: [ObjectNumber], of owner: ObjectNumber, _ name: String,
    _ missing: inout [MissingTarget]
  ) throws(StoreError) {
    for object in objects where try !willExist(object) {
      missing.append(MissingTarget(owner: owner, relationship: name, target: object))
    }
  }

  /// Returns whether an object will exist once the change set has been written.
  private func willExist(_ number: ObjectNumber) throws(StoreError) -> Bool {
    if let change = change(of: number) { return change.kind != .delete }
    guard let plan = plan(of: number) else { return false }
    return try storing(reader.get(plan.records, key: number.rawValue) != nil)
  }

  func name(of owner: ObjectNumber, slot: Int) -> String {
    store.schema.entity(of: owner)?.relationships[slot].name ?? ""
  }
}
