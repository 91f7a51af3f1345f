internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// Visits the rows at the ends of each group of an index, in the order of the groups' keys.
  ///
  /// - Returns: `false` if the scan was abandoned, because there are too many groups or a key is
  ///   truncated. The caller must then discard the rows that the sink has taken.
  func visit(skipping plan: AccessPlan, _ rows: inout RowDelivery) throws -> Bool {
    guard case .skipping(let scan) = plan.access,
      let lookups = try OrderedLookups(self, plan.residual)
    else { return false }
    var walk = GroupWalk(
      scan, lookups, try source.reader.cursor(source.database(of: scan.index)))
    tally?.begin()
    ran = .rows(plan)
    source.noteUse(of: scan.index)
    for range in scan.ranges {
      guard try walk.visit(range, &rows) else { return false }
    }
    source.keyTally?.add(walk.keys, of: source.schema.planName(of: scan.index.schema))
    scan.note(groups: walk.groups)
    try rows.finish()
    try resolver.check()
    return true
  }
}

/// Walks along an index from group to group.
private struct GroupWalk: ~Copyable {
  /// The number of steps to the next key after which a search for the next group is faster.
  private static let mostSteps = 4

  /// The result of visiting a key.
  private enum Finding {
    /// The end of the group needs further rows.
    case more
    /// The end of the group has all its rows.
    case complete
    /// The end's attribute has no value, and a row that represents all such rows was taken.
    case null
  }

  private let scan: SkipScan
  private let cursor: Cursor
  private var lookups: OrderedLookups
  /// The columns of the index that form a group.
  private let columns: ArraySlice<KeyDecoder.Column>
  /// The marker of a missing value in the column after them.
  private let nilMarker: UInt8
  /// The bytes that the keys of the current group begin with.
  private var group: [UInt8] = []
  private(set) var groups = 0
  private(set) var keys = 0

  /// - Parameter cursor: A cursor of the scan's index.
  init(_ scan: SkipScan, _ lookups: consuming OrderedLookups, _ cursor: consuming Cursor) {
    self.scan = scan
    self.lookups = lookups
    self.cursor = cursor
    let all = scan.index.keyColumns
    columns = all[..<scan.groupColumns]
    let isAscending = scan.groupColumns < all.count ? all[scan.groupColumns].isAscending : true
    nilMarker = KeyEncoder.nilMarker ^ KeyEncoder.mask(isAscending: isAscending)
  }

  /// Visits the groups of a range. Returns `false` if the scan is abandoned.
  mutating func visit(_ range: ScanRange, _ rows: inout RowDelivery) throws -> Bool {
    var entry = try cursor.seek(range.lower)
    while let first = entry {
      if let upper = range.upper, !first.key.isBefore(upper) { return true }
      guard first.key.count < KeyBuffer.indexLimit,
        let length = KeyDecoder.length(ofLeading: columns, in: first.key)
      else { return false }
      group = Array(first.key[..<length])
      groups += 1
      guard try visitGroup(&entry, &rows) else { return false }
    }
    return true
  }

  /// Visits the ends of the current group. Returns `false` if the scan is abandoned.
  ///
  /// - Parameter entry: The first entry of the group, then that of the next group. The cursor may
  ///   be elsewhere.
  private mutating func visitGroup(_ entry: inout Entry?, _ rows: inout RowDelivery) throws -> Bool
  {
    for end in scan.ends where end.isFirst {
      if scan.ends.count > 1, let first = entry { entry = try cursor.seek(first.key) }
      guard try visit(end, &entry, &rows) else { return false }
      for _ in 0..<Self.mostSteps {
        guard let found = entry, isInGroup(found.key) else { break }
        entry = try step(isForward: true)
      }
    }
    guard let found = entry, isInGroup(found.key) || scan.ends.contains(where: { !$0.isFirst })
    else { return true }
    let next = try ScanRange.successor(of: group).flatMap { try cursor.seek($0) }
    for end in scan.ends where !end.isFirst {
      entry = try next == nil ? cursor.last() : cursor.previousKey()
      guard try visit(end, &entry, &rows) else { return false }
    }
    entry = next
    return true
  }

  /// Visits the rows at one end of the group. Returns `false` if the scan is abandoned.
  ///
  /// - Parameter entry: The entry at the end of the group, then the one where the visit ended. The
  ///   cursor is there.
  private mutating func visit(
    _ end: SkipScan.End, _ entry: inout Entry?, _ rows: inout RowDelivery
  ) throws -> Bool {
    var missing = end.count
    while let found = entry, isInGroup(found.key) {
      guard found.key.count < KeyBuffer.indexLimit, lookups.visited <= scan.budget else {
        return false
      }
      switch try visit(found, end, &missing, &rows) {
      case .complete: return true
      case .null: entry = try behindNull(isForward: end.isFirst)
      case .more: entry = try step(isForward: end.isFirst)
      }
    }
    return true
  }

  /// Visits the rows of the key at which the cursor is.
  private mutating func visit(
    _ found: Entry, _ end: SkipScan.End, _ missing: inout Int, _ rows: inout RowDelivery
  ) throws -> Finding {
    let isNull = end.attribute != nil && found.key[group.count] == nilMarker
    if try cursor.valueCount() == 1 {
      return try take(cursor.number(of: found), end, isNull, &missing, &rows)
    }
    var batch = try cursor.firstNumbers(found.key)
    while let numbers = batch {
      for number in numbers {
        let finding = try take(number, end, isNull, &missing, &rows)
        guard case .more = finding else { return finding }
      }
      batch = try cursor.nextNumbers()
    }
    return .more
  }

  private mutating func take(
    _ number: UInt64, _ end: SkipScan.End, _ isNull: Bool, _ missing: inout Int,
    _ rows: inout RowDelivery
  ) throws -> Finding {
    guard let (record, entity) = try lookups.record(number) else { return .more }
    // All rows of a group are wanted, so the result doesn't matter.
    _ = try rows.take(ObjectNumber(rawValue: number), .stored(record), of: entity)
    if isNull { return .null }
    // NaN is in the index, but is neither a minimum nor a maximum.
    if let attribute = end.attribute,
      record.value(entity.attributes[attribute.slot].field).isNotANumber
    {
      return .more
    }
    missing -= 1
    return missing == 0 ? .complete : .more
  }

  /// Moves behind the group's keys without a value of the end's attribute.
  private mutating func behindNull(isForward: Bool) throws -> Entry? {
    let null = group + [nilMarker]
    keys += 1
    if isForward { return try ScanRange.successor(of: null).flatMap { try cursor.seek($0) } }
    return try cursor.seek(null) == nil ? cursor.last() : cursor.previousKey()
  }

  private mutating func step(isForward: Bool) throws -> Entry? {
    keys += 1
    return try isForward ? cursor.nextKey() : cursor.previousKey()
  }

  private func isInGroup(_ key: UnsafeRawBufferPointer) -> Bool { key.starts(with: group) }
}

extension UnsafeRawBufferPointer {
  /// Returns whether a key begins with the bytes of its leading columns.
  func starts(with prefix: [UInt8]) -> Bool {
    count >= prefix.count
      && prefix.withUnsafeBytes {
        UnsafeRawBufferPointer(rebasing: self[..<prefix.count]).elementsEqual($0)
      }
  }
}
