internal import ArborModel
internal import LMDB

/// Maintains one unordered to-many relationship: collects the members that a commit adds and
/// removes, and writes them.
///
/// The changes of a derived relationship come from records, those of links from
/// ``ChangeSet/LinkEdit``.
final class RelationshipMaintainer {
  let relationship: StoreDatabases.Relationship
  var run = MemberRun()
  /// Deleted objects whose own members are all removed.
  var droppedOwners: [ObjectNumber] = []
  /// Whether links to deleted members are removed in a pass over the database instead of being
  /// collected.
  var isSwept = false
  /// The links of deleted members that a pass over the database removes, if derived values depend on
  /// them. They are not written.
  var sweptRun = MemberRun()
  private var greatestOwner = GreatestNumber()
  private var lastMember: UInt64 = 0
  /// Whether the changes collected so far were in the order of their members.
  private var isOrderedByMember = true

  init(_ relationship: StoreDatabases.Relationship) { self.relationship = relationship }

  var isEmpty: Bool { run.count == 0 && droppedOwners.isEmpty && !isSwept }

  func removeAll() {
    run.removeAll()
    droppedOwners.removeAll()
    isSwept = false
    sweptRun.removeAll()
    lastMember = 0
    isOrderedByMember = true
  }

  /// Discards the cached greatest owner, because another process may have written.
  func forgetEnd() { greatestOwner.forget() }

  @inline(__always)
  func collect(_ owner: ObjectNumber, _ member: ObjectNumber, isRemoval: Bool) {
    run.append(MemberChange(owner: owner, member: member, isRemoval: isRemoval))
    if member.rawValue < lastMember { isOrderedByMember = false }
    lastMember = member.rawValue
  }

  /// Sorts the changes and keeps the last one of each pair.
  ///
  /// The changes of a derived relationship are already distinct.
  func sort() {
    if relationship.schema.storage == .derived {
      run.sort(ignoringLow: isOrderedByMember)
      sweptRun.sort()
    } else {
      run.sort()
      run.keepLastOfEachPair()
    }
  }

  /// Writes the collected changes.
  ///
  /// - Parameters:
  ///   - before: A reader of the relationship as it was before the changes, or `nil` if there isn't
  ///     one.
  ///   - swept: Deleted members to remove from all owners. Requires `before`.
  func apply(
    _ transaction: borrowing WriteTransaction, before: TransactionReader? = nil,
    without swept: SweptObjects = SweptObjects()
  ) throws(LMDBError) {
    let database = relationship.members
    if isSwept, let before { try swept.drop(from: database, transaction, before) }
    if before != nil {
      let greatest = try greatestOwner.find(in: database, transaction.reader)
      let end = (0..<run.count).partitioningIndex { run[$0].high > greatest }
      try transaction.reader.verifyPages(of: database, forChanges: droppedOwners.count + end)
    }
    for owner in droppedOwners { try transaction.delete(database, key: owner.rawValue) }
    var (additions, lastAddition) = (0, 0)
    for index in 0..<run.count {
      let change = run[index]
      if change.isRemoval {
        try transaction.delete(database, key: change.high, number: change.low)
      } else {
        (additions, lastAddition) = (additions + 1, index)
      }
    }
    if additions == 1 {
      try addAlone(run[lastAddition], transaction, database)
    } else if additions > 1 {
      try add(transaction, database)
    }
  }

  /// Adds a single member without a cursor, whose creation costs more than the search it saves.
  private func addAlone(
    _ change: MemberChange, _ transaction: borrowing WriteTransaction, _ database: Database
  ) throws(LMDBError) {
    let greatest = try greatestOwner.find(in: database, transaction.reader)
    let isAbove = change.high > greatest
    try transaction.put(
      database, key: change.high, number: change.low, isAbove ? .append : .noDuplicate)
    if isAbove { greatestOwner.note(change.high) }
  }

  /// Adds members. Those of owners above the last one are appended, which fills pages completely.
  private func add(
    _ transaction: borrowing WriteTransaction, _ database: Database
  ) throws(LMDBError) {
    let cursor = try transaction.reader.cursor(database)
    var greatest = try greatestOwner.find(in: database, transaction.reader)
    defer { greatestOwner.note(greatest) }
    var appended: UInt64?
    for index in 0..<run.count where !run[index].isRemoval {
      let change = run[index]
      var mode = Cursor.BulkMode.noDuplicate
      if change.high == appended {
        mode = .appendDuplicate
      } else if change.high > greatest {
        mode = .append
        appended = change.high
        greatest = change.high
      }
      try cursor.put(key: change.high, number: change.low, mode)
    }
  }
}
