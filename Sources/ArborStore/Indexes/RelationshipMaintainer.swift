internal import ArborModel
internal import LMDB

/// Keeps one unordered to-many relationship: collects what a commit adds and removes, and writes.
///
/// Derived relationships get their changes from records, links from edits.
final class RelationshipMaintainer {
  let relationship: StoreDatabases.Relationship
  var run = MemberRun()
  /// Deleted objects whose own members go at once.
  var droppedOwners: [ObjectNumber] = []
  /// Whether the removal of deleted members has not been collected: they are dropped by number.
  var isSwept = false
  private var greatestOwner = GreatestNumber()
  private var lastMember: UInt64 = 0
  /// Whether the changes came in the order of their members so far.
  private var isOrderedByMember = true

  init(_ relationship: StoreDatabases.Relationship) { self.relationship = relationship }

  var isEmpty: Bool { run.count == 0 && droppedOwners.isEmpty && !isSwept }

  func removeAll() {
    run.removeAll()
    droppedOwners.removeAll()
    isSwept = false
    lastMember = 0
    isOrderedByMember = true
  }

  /// Others may have written since.
  func forgetEnd() { greatestOwner.forget() }

  @inline(__always)
  func collect(_ owner: ObjectNumber, _ member: ObjectNumber, isRemoval: Bool) {
    run.append(MemberChange(owner: owner, member: member, isRemoval: isRemoval))
    if member.rawValue < lastMember { isOrderedByMember = false }
    lastMember = member.rawValue
  }

  /// Sorts the changes and leaves one for each pair.
  ///
  /// Those of a derived relationship are distinct already.
  func sort() {
    if relationship.schema.storage == .derived {
      run.sort(ignoringLow: isOrderedByMember)
    } else {
      run.sort()
      run.keepLastOfEachPair()
    }
  }

  /// Writes the collected changes.
  ///
  /// - Parameters:
  ///   - basis: Shows the relationship as it is before the changes; nil where nothing does.
  ///   - swept: Members that are nobody's any more; with a basis only.
  func apply(
    _ transaction: borrowing WriteTransaction, basis: TransactionReader? = nil,
    without swept: SweptObjects = SweptObjects()
  ) throws(LMDBError) {
    let database = relationship.members
    if isSwept, let basis { try swept.drop(from: database, transaction, basis) }
    if basis != nil {
      let greatest = try greatestOwner.find(in: database, transaction.reader)
      let end = (0..<run.count).partitioningIndex { run[$0].high > greatest }
      try transaction.reader.verifyPages(of: database, forChanges: droppedOwners.count + end)
    }
    for owner in droppedOwners { try transaction.delete(database, key: owner.rawValue) }
    var (additions, lastAddition) = (0, 0)
    for index in 0..<run.count {
      let change = run[index]
      if change.isRemoval {
        try transaction.delete(database, key: change.high, value: change.low)
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

  /// Adds a single member: a cursor costs more than the search that it spares.
  private func addAlone(
    _ change: MemberChange, _ transaction: borrowing WriteTransaction, _ database: Database
  ) throws(LMDBError) {
    let greatest = try greatestOwner.find(in: database, transaction.reader)
    let isAbove = change.high > greatest
    try transaction.put(
      database, key: change.high, value: change.low, isAbove ? .append : .noDuplicate)
    if isAbove { greatestOwner.note(change.high) }
  }

  /// Members of owners above the last one are appended, which fills pages completely.
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
      try cursor.put(key: change.high, value: change.low, mode)
    }
  }
}
