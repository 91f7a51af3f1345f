import LMDB

/// The random operations of one transaction on two databases of 16-byte values, each compared with
/// the model.
struct DuplicatesWork {
  let databases: [Database]
  private(set) var models: [DuplicatesModel]
  var generator: SeededGenerator
  /// The number of operations so far; each change of a run counts.
  private(set) var done = 0

  init(databases: [Database], models: [DuplicatesModel], generator: SeededGenerator) {
    self.databases = databases
    self.models = models
    self.generator = generator
  }

  private func expect(
    _ holds: Bool, _ what: @autoclosure () -> String
  ) throws(DuplicatesRun.Difference) {
    if !holds { throw DuplicatesRun.Difference(description: "operation \(done): \(what())") }
  }

  /// Performs one random operation on a key.
  ///
  /// - Parameters:
  ///   - cursor: A cursor of the first database that was opened before the operation.
  ///   - goal: The number of values that the key grows or shrinks to.
  mutating func operate(
    _ transaction: borrowing WriteTransaction, _ cursor: borrowing Cursor, _ key: UInt64, goal: Int
  ) throws {
    let count = models[0][key].count
    let grows = count < goal ? generator.below(4) > 0 : generator.below(4) == 0
    done += 1
    switch generator.below(1000) {
    case 0..<500: try grows ? put(transaction, key) : remove(transaction, key)
    case 500..<650: try move(transaction, key)
    case 650..<750: try lookUp(cursor, key)
    case 750..<830: try readBatches(cursor, key)
    case 830..<900: try scan(cursor, key)
    case 900..<940: try stand(transaction, cursor, key)
    case 940..<980: try fetchFirst(transaction, key)
    case 980..<998: try grows ? fill(transaction, key) : drain(transaction, key)
    default: if goal == 0 || count < 300 { try removeAll(transaction, key) }
    }
  }

  // MARK: Changes

  /// Returns a random position and member: next to an existing one, in a narrow range, or anywhere.
  private mutating func newValue(_ key: UInt64) -> UInt128 {
    let sorted = models[0][key]
    let position: UInt64
    switch generator.below(4) {
    case 0 where !sorted.isEmpty:
      position = UInt64(sorted[generator.below(sorted.count)] >> 64) &+ 1
    case 1: position = UInt64(generator.below(1 << 16))
    default: position = generator.next() >> 20
    }
    return UInt128(position) << 64 | UInt128(generator.next() >> 40)
  }

  private mutating func someValue(_ key: UInt64) -> UInt128 {
    let sorted = models[0][key]
    return sorted.isEmpty || generator.below(10) == 0
      ? newValue(key) : sorted[generator.below(sorted.count)]
  }

  private mutating func put(
    _ transaction: borrowing WriteTransaction, _ key: UInt64, _ value: UInt128
  ) throws {
    for (index, value) in [value, value.exchanged].enumerated() {
      let isNew = models[index].insert(key, value)
      let wasPut = try value.withStoredBytes { (bytes) throws(LMDBError) in
        try transaction.put(databases[index], key: key, value: bytes, .noDuplicate)
      }
      try expect(wasPut == isNew, "put \(value) under \(key): \(wasPut)")
    }
  }

  private mutating func remove(
    _ transaction: borrowing WriteTransaction, _ key: UInt64, _ value: UInt128
  ) throws {
    for (index, value) in [value, value.exchanged].enumerated() {
      let wasThere = models[index].remove(key, value)
      let isDeleted = try value.withStoredBytes { (bytes) throws(LMDBError) in
        try key.withBytes { (key) throws(LMDBError) in
          try transaction.delete(databases[index], key: key, value: bytes)
        }
      }
      try expect(isDeleted == wasThere, "delete \(value) of \(key): \(isDeleted)")
    }
  }

  private mutating func put(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    try put(transaction, key, generator.below(20) == 0 ? someValue(key) : newValue(key))
  }

  private mutating func remove(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    try remove(transaction, key, someValue(key))
  }

  /// Moves a member to another position.
  private mutating func move(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    let former = someValue(key)
    try remove(transaction, key, former)
    let position = newValue(key) >> 64
    try put(transaction, key, position << 64 | former & UInt128(UInt64.max))
  }

  /// Inserts many evenly spaced values, as setting a whole list does.
  private mutating func fill(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    let first = newValue(key)
    let step = UInt128(1 + generator.below(1000)) << 64
    let count = 1 + generator.below(500)
    for number in 0..<count { try put(transaction, key, first &+ UInt128(number) &* step) }
    done += count - 1
  }

  /// Deletes many consecutive values.
  private mutating func drain(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    let sorted = models[0][key]
    let first = generator.below(sorted.count + 1)
    let some = sorted[first...].prefix(1 + generator.below(500))
    for value in some { try remove(transaction, key, value) }
    done += max(some.count - 1, 0)
  }

  private mutating func removeAll(
    _ transaction: borrowing WriteTransaction, _ key: UInt64
  ) throws {
    for index in databases.indices {
      let wasThere = models[index].removeAll(key)
      let isDeleted = try transaction.delete(databases[index], key: key)
      try expect(isDeleted == wasThere, "delete \(key): \(isDeleted)")
    }
  }

  // MARK: Reading

  private func value(_ entry: Entry?) -> UInt128? { entry.map { UInt128(stored: $0.value) } }

  /// Looks up a value exactly, and the first value from there on.
  private mutating func lookUp(_ cursor: borrowing Cursor, _ key: UInt64) throws {
    let wanted = someValue(key)
    let sorted = models[0][key]
    let index = models[0].lowerBound(key, wanted)
    let exact = try wanted.withStoredBytes { (bytes) throws(LMDBError) in
      try key.withBytes { (key) throws(LMDBError) in try cursor.seekExact(key, value: bytes) }
    }
    let isThere = models[0].contains(key, wanted)
    try expect(value(exact) == (isThere ? wanted : nil), "\(wanted) of \(key)")
    let above = try seek(cursor, key, wanted)
    try expect(above == (index < sorted.count ? sorted[index] : nil), "from \(wanted) of \(key)")
    guard try cursor.seekExact(key) != nil else { return }
    try expect(try cursor.valueCount() == sorted.count, "the number of values of \(key)")
    try expect(value(try cursor.lastDuplicate()) == sorted.last, "the last value of \(key)")
  }

  private func seek(
    _ cursor: borrowing Cursor, _ key: UInt64, _ wanted: UInt128
  ) throws -> UInt128? {
    let entry = try wanted.withStoredBytes { (bytes) throws(LMDBError) in
      try key.withBytes { (key) throws(LMDBError) in try cursor.seek(key, value: bytes) }
    }
    return value(entry)
  }

  /// Reads values in batches. Of large keys, it usually reads only the first few.
  private mutating func readBatches(_ cursor: borrowing Cursor, _ key: UInt64) throws {
    let most = generator.below(50) == 0 ? Int.max : 1 + generator.below(4)
    let found = try DuplicatesRun.batches(cursor, key, most: most)
    let sorted = models[0][key]
    let isWhole = most == .max ? found.count == sorted.count : !found.isEmpty == !sorted.isEmpty
    try expect(isWhole && found[...] == sorted.prefix(found.count), "the batches of \(key)")
  }

  /// Steps over some values forward or backward, then to the adjacent key.
  private mutating func scan(_ cursor: borrowing Cursor, _ key: UInt64) throws {
    let sorted = models[0][key]
    guard !sorted.isEmpty else { return }
    var index = generator.below(sorted.count)
    let isForward = generator.below(2) == 0
    try expect(try seek(cursor, key, sorted[index]) == sorted[index], "\(sorted[index]) of \(key)")
    for _ in 0..<(1 + generator.below(30)) {
      index += isForward ? 1 : -1
      let expected = sorted.indices.contains(index) ? sorted[index] : nil
      let entry = isForward ? try cursor.nextDuplicate() : try cursor.previousDuplicate()
      try expect(value(entry) == expected, "value \(index) of \(key)")
      if expected == nil { break }
    }
    guard generator.below(4) == 0 else { return }
    let keys = models[0].keys
    let beside = isForward ? keys.first { $0 > key } : keys.last { $0 < key }
    let entry = isForward ? try cursor.nextKey() : try cursor.previousKey()
    let values = beside.map { models[0][$0] }
    try expect(entry?.integerKey == beside, "the key beside \(key)")
    try expect(
      value(entry) == (isForward ? values?.first : values?.last), "the value beside key \(key)")
  }

  /// Positions a cursor on a value, inserts or deletes another value of the key, and steps on.
  private mutating func stand(
    _ transaction: borrowing WriteTransaction, _ cursor: borrowing Cursor, _ key: UInt64
  ) throws {
    let sorted = models[0][key]
    guard let here = sorted.randomElement(using: &generator) else { return }
    try expect(try seek(cursor, key, here) == here, "\(here) of \(key)")
    let other = someValue(key)
    if other == here { return }
    if models[0].contains(key, other) {
      try remove(transaction, key, other)
    } else {
      try put(transaction, key, other)
    }
    try expect(value(try cursor.current()) == here, "\(here) of \(key) beside a change")
    let next = models[0][key].dropFirst(models[0].lowerBound(key, here) + 1).first
    try expect(value(try cursor.nextDuplicate()) == next, "behind \(here) of \(key)")
  }

  private func fetchFirst(_ transaction: borrowing WriteTransaction, _ key: UInt64) throws {
    for (database, model) in zip(databases, models) {
      let found = try transaction.get(database, key: key).map { UInt128(stored: $0) }
      try expect(found == model[key].first, "the first value of \(key)")
    }
  }
}
