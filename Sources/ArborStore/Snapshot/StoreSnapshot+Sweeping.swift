package import ArborModel
internal import CArborBits
internal import LMDB

/// The members of one to-many relationship for many owners.
package struct MemberTable {
  /// All members, grouped by owner. Those of an ordered relationship are in order; otherwise they
  /// are ascending.
  package fileprivate(set) var members: [ObjectNumber] = []
  /// The index of each owner's first member.
  private var starts: [Int] = []
  private let ownerIndices: NumberMap

  fileprivate init(capacity: Int) {
    ownerIndices = NumberMap(minimumCapacity: capacity)
    starts.reserveCapacity(capacity + 1)
  }

  fileprivate mutating func begin(_ owner: ObjectNumber) {
    ownerIndices.set(owner, UInt(bitPattern: starts.count))
    starts.append(members.count)
  }

  /// The members of an owner, or `nil` if the owner is not in the table.
  package subscript(owner: ObjectNumber) -> ArraySlice<ObjectNumber>? {
    guard let word = ownerIndices[owner] else { return nil }
    let position = Int(bitPattern: word)
    return members[
      starts[position]..<(position + 1 < starts.count ? starts[position + 1] : members.count)]
  }
}

/// Bulk reads in storage order.
extension StoreSnapshot {
  /// The ratio of the cost of a record lookup to that of a row of a scan.
  private static let scanAdvantage = 16
  /// The number of entries to step over before the next wanted one is looked up instead.
  private static let reach = 8

  /// Returns the members of many owners in a to-many relationship. Those of an unordered one are
  /// read in one pass.
  ///
  /// - Parameters:
  ///   - owners: The owners, ascending and distinct.
  ///   - limit: The maximum number of members. The table ends before the first owner whose members
  ///     would exceed it.
  package func members(
    _ relationship: RelationshipSchema, of owners: [ObjectNumber], limit: Int = .max
  ) throws(StoreError) -> MemberTable {
    var table = MemberTable(capacity: owners.count)
    guard let first = owners.first, let found = try storedMembers.databases(of: relationship, first)
    else {
      return table
    }
    let reader = try reader
    try storing { () throws(LMDBError) in
      if let order = found.order {
        for owner in owners {
          let members = try OrderedMembers.read(reader, order, owner).map(\.member)
          guard members.count <= limit - table.members.count else { return }
          table.begin(owner)
          table.members += members
        }
      } else {
        try Self.read(&table, found.members, of: owners, limit: limit, reader)
      }
    }
    try check(table.members[...], relationship, of: first)
    return table
  }

  /// Reads the members of an unordered relationship with one cursor that moves from owner to owner.
  @inline(__always)
  private static func read(
    _ table: inout MemberTable, _ members: Database, of owners: [ObjectNumber], limit: Int,
    _ reader: TransactionReader
  ) throws(LMDBError) {
    guard let first = owners.first else { return }
    let cursor = try reader.cursor(members)
    var entry = try cursor.seek(first.rawValue)
    for owner in owners {
      var steps = 0
      while let here = entry, here.integerKey < owner.rawValue {
        steps += 1
        entry = try steps < reach ? cursor.nextKey() : cursor.seek(owner.rawValue)
      }
      guard let here = entry, here.integerKey == owner.rawValue else {
        table.begin(owner)
        continue
      }
      guard try cursor.valueCount() <= limit - table.members.count else { return }
      table.begin(owner)
      var batch = try cursor.firstNumbers(owner.rawValue)
      while let numbers = batch {
        for number in numbers { table.members.append(ObjectNumber(rawValue: number)) }
        batch = try cursor.nextNumbers()
      }
      entry = try cursor.nextKey()
    }
  }

  /// Copies the records of many objects, in one pass per entity unless they are few. Numbers
  /// without an object are skipped.
  ///
  /// - Parameters:
  ///   - numbers: The object numbers, ascending and distinct.
  ///   - body: Called with several thousand copies at once.
  package func readRecords(
    of numbers: [ObjectNumber], allocator: SlabAllocator,
    _ body: (FetchedRecords) throws(StoreError) -> Void
  ) throws(StoreError) {
    var records = FetchedRecords()
    records.rows.reserveCapacity(min(numbers.count, Self.batchSize))
    var rest = numbers[...]
    while let first = rest.first {
      let run = rest.prefix { $0.entity == first.entity }
      rest = rest.dropFirst(run.count)
      guard let entity = store.schema.entity(of: first), !entity.isAbstract else { continue }
      try translatingErrors {
        try readRecords(of: run, entity) { number, value throws in
          try copy(value, number, entity, allocator, &records)
          guard records.rows.count == Self.batchSize else { return }
          try body(records)
          records.removeAll()
        }
      }
    }
    if !records.rows.isEmpty { try body(records) }
  }

  /// The number of records per batch. Objects that are created consecutively, without slab
  /// allocations in between, are adjacent in memory. Batches of more than a few hundred kilobytes
  /// cost more than that saves.
  private static let batchSize = 16_384

  @inline(__always)
  private func readRecords(
    of numbers: ArraySlice<ObjectNumber>, _ entity: EntitySchema,
    _ body: (ObjectNumber, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let database = store.databases.records(entity.index)
    let total = try reader.entryCount(database)
    if numbers.count > total / Self.scanAdvantage {
      return try forEachEntry(of: numbers, in: database, body)
    }
    for number in numbers {
      guard let value = try reader.get(database, key: number.rawValue) else { continue }
      try body(number, value)
    }
  }

  /// Calls `body` with the entries of ascending numbers, which are found by scanning the database.
  @inline(__always)
  private func forEachEntry(
    of numbers: ArraySlice<ObjectNumber>, in database: Database,
    _ body: (ObjectNumber, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let first = numbers.first else { return }
    var scan = try reader.scan(database, from: first.rawValue)
    try withUnsafeTemporaryAllocation(of: NumberedEntry.self, capacity: 64) { room in
      var (position, count) = (0, try scan.next(into: room))
      for number in numbers {
        while position == count || room[position].key < number.rawValue {
          position += 1
          guard position >= count else { continue }
          guard count == room.count else { return }
          (position, count) = (0, try scan.next(into: room))
          guard count > 0 else { return }
        }
        if room[position].key == number.rawValue { try body(number, room[position].value) }
      }
    }
  }

  @inline(__always)
  private func copy(
    _ value: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema,
    _ allocator: SlabAllocator, _ records: inout FetchedRecords
  ) throws {
    guard let base = value.baseAddress else { return }
    let stored = RecordView(base: base, count: value.count)
    let view = try store.layouts.verified(stored, of: number, entity: entity, allocator: allocator)
    // A converted record is already in the slab.
    guard view.base == base else { return records.append(number, view, in: allocator) }
    let copy = allocator.allocate(view.count)
    copy.copyMemory(from: base, byteCount: view.count)
    records.append(number, RecordView(base: copy, count: view.count), in: allocator)
  }
}
