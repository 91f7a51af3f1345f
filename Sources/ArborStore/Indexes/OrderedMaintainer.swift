internal import ArborModel
internal import LMDB

/// Maintains one ordered to-many relationship: determines the new member lists and writes the
/// members that moved.
final class OrderedMaintainer {
  /// The new members of one owner.
  struct Outcome {
    let owner: ObjectNumber
    let stored: [OrderedMembers.Member]
    var members: [ObjectNumber]
    var joining: [ObjectNumber] = []
  }

  let members: Database
  let order: Database
  private(set) var outcomes: [Outcome] = []
  private var outcomeIndices: [ObjectNumber: Int] = [:]
  var droppedOwners: [ObjectNumber] = []

  init(members: Database, order: Database) {
    self.members = members
    self.order = order
  }

  var isEmpty: Bool { outcomes.isEmpty && droppedOwners.isEmpty }

  func removeAll() {
    outcomes.removeAll()
    outcomeIndices.removeAll()
    droppedOwners.removeAll()
  }

  /// Returns the members that an owner will have, or `nil` if they don't change.
  func outcome(of owner: ObjectNumber) -> Outcome? { outcomeIndices[owner].map { outcomes[$0] } }

  // MARK: Collecting

  func collect(
    _ owner: ObjectNumber, _ edit: ChangeSet.LinkEdit.Edit, _ reader: TransactionReader
  ) throws(LMDBError) {
    let index: Int
    if let known = outcomeIndices[owner] {
      index = known
    } else {
      let stored = try OrderedMembers.read(reader, order, owner)
      index = outcomes.count
      outcomeIndices[owner] = index
      outcomes.append(Outcome(owner: owner, stored: stored, members: stored.map(\.member)))
    }
    switch edit {
    case .add(let member):
      if !outcomes[index].members.contains(member) { outcomes[index].members.append(member) }
    case .remove(let member): outcomes[index].members.removeAll { $0 == member }
    case .reorder(let members): outcomes[index].members = members
    }
  }

  /// Determines the new members once all edits have been collected.
  func finishCollecting() {
    for index in outcomes.indices {
      let present = Set(outcomes[index].stored.map(\.member))
      outcomes[index].joining = outcomes[index].members.filter { !present.contains($0) }
    }
  }

  // MARK: Writing

  func apply(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    for owner in droppedOwners {
      try transaction.delete(members, key: owner.rawValue)
      try transaction.delete(order, key: owner.rawValue)
    }
    for outcome in outcomes { try write(outcome, transaction) }
  }

  private func write(
    _ outcome: Outcome, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    let old = Dictionary(
      outcome.stored.map { ($0.member, $0.position) }, uniquingKeysWith: { first, _ in first })
    let positions = MemberPositions.assign(outcome.members.map { old[$0] })
    var kept = Set<ObjectNumber>()
    for (member, position) in zip(outcome.members, positions) where old[member] == position {
      kept.insert(member)
    }
    for stored in outcome.stored where !kept.contains(stored.member) {
      try OrderedMembers.change(
        members, order, outcome.owner.rawValue, stored.member.rawValue, stored.position
      ) { (database, key, value) throws(LMDBError) in
        _ = try transaction.delete(database, key: key, value: value)
      }
    }
    for (member, position) in zip(outcome.members, positions) where !kept.contains(member) {
      try OrderedMembers.change(
        members, order, outcome.owner.rawValue, member.rawValue, position
      ) { (database, key, value) throws(LMDBError) in
        _ = try transaction.put(database, key: key, value: value, .noDuplicate)
      }
    }
  }
}
