internal import ArborModel
internal import CArborBits
internal import LMDB

/// Rewrites an entity's records instead of deleting some: the remaining ones are copied in order.
///
/// Scattered deletions copy each page of a copy-on-write B+ tree and leave it half empty. If the
/// remaining records fill fewer pages, rewriting writes only those, completely filled.
extension CommitWriter {
  private static var fewDeletions: Int { 1 << 10 }

  /// Returns whether copying the remaining records writes fewer pages than deleting the others.
  ///
  /// - Parameters:
  ///   - changes: The changes of one entity, in the order of their numbers.
  ///   - before: A reader of the records as they were before the changes.
  func isRewriteWorthwhile(
    _ changes: ArraySlice<ChangeSet.RecordChange>, _ database: Database, _ before: TransactionReader
  ) throws(LMDBError) -> Bool {
    guard changes.count >= Self.fewDeletions else { return false }
    let tree = try before.statistics(database)
    let cursor = try before.cursor(database)
    // Deletions don't copy values that are stored in overflow pages.
    guard tree.leafPages > 0, tree.overflowPages <= tree.leafPages / 4,
      let first = try cursor.first()?.integerKey, let last = try cursor.last()?.integerKey
    else { return false }
    let perPage = Double(tree.entries) / Double(tree.leafPages)
    let width = max(1, (last - first) / UInt64(tree.leafPages))
    var (deletions, pages) = (0, 0)
    var (page, deletedOfPage) = (UInt64.max, 0)
    for change in changes where change.record == nil {
      deletions += 1
      let own = (max(change.number.rawValue, first) - first) / width
      if own != page {
        // A page without remaining records is not written.
        if deletedOfPage > 0, Double(deletedOfPage) < 0.9 * perPage { pages += 1 }
        (page, deletedOfPage) = (own, 0)
      }
      deletedOfPage += 1
    }
    guard deletions >= Self.fewDeletions, deletions >= tree.entries / 8 else { return false }
    return Double(pages) > Double(tree.entries - deletions) / perPage
  }

  /// Copies the remaining records and merges the new and changed ones. Returns the greatest number,
  /// or 0 if no record is left.
  func rewriteRecords(
    _ changes: ArraySlice<ChangeSet.RecordChange>, of entity: EntitySchema,
    _ database: Database, _ transaction: borrowing WriteTransaction, from before: TransactionReader
  ) throws(LMDBError) -> UInt64 {
    // Most records stay. Only removals and additions are counted.
    try transaction.clear(database, isCounted: false)
    let cursor = try transaction.reader.cursor(database)
    var scan = before.scan(database, from: 0)
    var index = changes.startIndex
    var last: UInt64 = 0
    // Memory safety: the buffer is initialized up to the count that the scan returns, and not read
    // beyond it.
    let room = UnsafeMutableBufferPointer<NumberedEntry>.allocate(capacity: 64)
    defer { room.deallocate() }
    while true {
      let count = try scan.next(into: room)
      for stored in room[..<count] {
        while index < changes.endIndex, changes[index].number.rawValue < stored.key {
          try append(changes[index], of: entity, to: cursor, &last)
          index += 1
        }
        if index < changes.endIndex, changes[index].number.rawValue == stored.key {
          transaction.countRemoval(database, key: stored.key, value: stored.value)
          try append(changes[index], of: entity, to: cursor, &last)
          index += 1
        } else {
          let bytes = stored.value
          try cursor.put(key: stored.key, reserving: bytes.count, isAbove: true, isCounted: false) {
            $0.copyMemory(from: bytes)
          }
          last = stored.key
        }
      }
      if count < room.count { break }
    }
    for change in changes[index...] { try append(change, of: entity, to: cursor, &last) }
    return last
  }

  private func append(
    _ change: ChangeSet.RecordChange, of entity: EntitySchema, to cursor: borrowing Cursor,
    _ last: inout UInt64
  ) throws(LMDBError) {
    guard let record = change.record else { return }
    let number = change.number.rawValue
    try put(record, of: change, entity.layout, isAbove: true, cursor)
    last = number
  }
}
