internal import ArborModel
internal import LMDB

/// Checks that every record has its index entries, every entry its record, and that unique values
/// are unique.
///
/// An index that is being built may lack entries after the last written one, and its values are not
/// known to be unique yet.
extension StoreChecker {
  mutating func checkIndex(_ indexNumber: Int) throws(StoreError) {
    let index = store.databases.indexes[indexNumber]
    let expected = indexes[indexNumber]
    expected.sort()
    let build = snapshot.unfinishedIndexes?[indexNumber]
    try storing(limit, compare(expected, with: index, build))
    guard index.schema.isUnique, build == nil else { return }
    let allocator = SlabAllocator()
    let duplicates = try expected.duplicates { (number) throws(StoreError) in
      guard let record = try snapshot.record(number, allocator: allocator),
        let entity = store.schema.entity(of: number),
        let plan = store.plans[entity.index]?.indexes.first(where: { $0.number == indexNumber })
      else { return nil }
      return expected.wholeKey(of: record, number, plan)
    }
    for duplicate in duplicates {
      let (holder, other) = (duplicate.holder, duplicate.other)
      report.add(
        .duplicate, "\(name(holder)) and \(name(other)) have the same \(title(index)).",
        entity: entityName(other), object: other)
    }
  }

  /// Compares the expected and the stored entries side by side, both ordered by key and number.
  ///
  /// - Parameter build: The progress of an index that is being built, or `nil` if it is ready.
  private mutating func compare(
    _ expected: IndexMaintainer, with index: StoreDatabases.Index, _ build: IndexBuildList.Build?
  ) throws(LMDBError) {
    let cursor = try reader.cursor(index.database)
    var found = try cursor.first()
    var next = 0
    while next < expected.run.count || found != nil {
      try limit.checkLMDB()
      guard let stored = found else {
        reportMissing(expected, next, index, build)
        next += 1
        continue
      }
      guard next < expected.run.count else {
        reportStray(cursor.number(of: stored), index)
        found = try cursor.next()
        continue
      }
      let wanted = expected.run[next]
      let order = expected.run.withKey(wanted) { key in
        key.isBefore(stored.key) ? -1 : stored.key.isBefore(key) ? 1 : 0
      }
      let isSame = order == 0 && wanted.number == cursor.number(of: stored)
      if isSame || order < 0 || (order == 0 && wanted.number < cursor.number(of: stored)) {
        if !isSame { reportMissing(expected, next, index, build) }
        next += 1
      }
      if isSame || order > 0 || (order == 0 && wanted.number > cursor.number(of: stored)) {
        if !isSame { reportStray(cursor.number(of: stored), index) }
        found = try cursor.next()
      }
      report.indexEntryCount += 1
    }
  }

  private mutating func reportMissing(
    _ expected: IndexMaintainer, _ entryIndex: Int, _ index: StoreDatabases.Index,
    _ build: IndexBuildList.Build?
  ) {
    let entry = expected.run[entryIndex]
    if let build, !expected.run.withKey(entry, { build.isDue($0, entry.number) }) { return }
    let number = ObjectNumber(rawValue: entry.number)
    add(.missingIndexEntry, number, " is missing from the index \(title(index)).")
  }

  private mutating func reportStray(_ raw: UInt64, _ index: StoreDatabases.Index) {
    let number = ObjectNumber(rawValue: raw)
    report.add(
      .strayIndexEntry,
      "The index \(title(index)) has an entry for \(name(number)) that doesn't match a record.",
      entity: entityName(number), object: number)
  }

  private func title(_ index: StoreDatabases.Index) -> String {
    "\(store.schema.entities[index.schema.declaringEntity].name).\(index.schema.name)"
  }
}
