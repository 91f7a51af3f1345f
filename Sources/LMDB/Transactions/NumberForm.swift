/// The stored form of the numbers in a database of number sets.
///
/// A number consists of a prefix of 16 bits, 8 bits that are zero, and a rest of 40 bits. Stored are
/// the prefix and the rest, or only the rest if all numbers have the same prefix, in big-endian
/// order, so that comparing bytes compares numbers.
@usableFromInline
package struct NumberForm: Sendable, Hashable {
  /// The greatest rest of a number.
  @inlinable package static var maximumRest: UInt64 { 1 << 40 - 1 }

  /// The common prefix of all numbers, or `nil` if prefixes are stored.
  @usableFromInline let prefix: UInt16?

  /// Numbers with any prefix, in 7 bytes.
  package static let wide = NumberForm(prefix: nil)

  /// Returns the form of numbers with one prefix, in 5 bytes.
  package static func narrow(prefix: UInt16) -> NumberForm { NumberForm(prefix: prefix) }

  @inlinable
  init(prefix: UInt16?) { self.prefix = prefix }

  /// The number of bytes of a stored number.
  @inlinable package var size: Int { prefix == nil ? 7 : 5 }

  /// Returns the number whose bytes end at an address.
  ///
  /// Memory safety: the 8 bytes before the address are read. In a page, at least a header precedes
  /// every value. Bytes after the address may be those of another page.
  @inlinable @inline(__always)
  func number(endingAt end: UnsafeRawPointer) -> UInt64 {
    let word = UInt64(bigEndian: (end - 8).loadUnaligned(as: UInt64.self))
    let start = prefix.map { UInt64($0) } ?? word >> 40 & 0xFFFF
    return start << 48 | word & Self.maximumRest
  }

  /// Returns the number that a value in a page consists of, or 0 if the value has another size.
  @inlinable @inline(__always)
  package func number(_ value: UnsafeRawBufferPointer) -> UInt64 {
    guard value.count == size, let start = value.baseAddress else { return 0 }
    return number(endingAt: start + size)
  }

  /// Returns whether a number can be stored.
  @inlinable @inline(__always)
  func holds(_ number: UInt64) -> Bool {
    let start = number >> 48
    return number & (0xFF << 40) == 0 && (prefix.map { UInt64($0) } ?? start) == start
  }

  /// Returns the least number that can be stored and is not less than the given one.
  func atLeast(_ number: UInt64) -> UInt64? {
    if holds(number) { return number }
    guard let prefix else {
      // The rest is too great, so the next prefix follows.
      let next = (number >> 48 + 1) << 48
      return next == 0 ? nil : next
    }
    return number >> 48 < UInt64(prefix) ? UInt64(prefix) << 48 : nil
  }

  /// Calls `body` with the stored bytes of a number, which ``holds(_:)`` must accept.
  @inlinable @inline(__always)
  func withBytes<R, E: Error>(
    of number: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    assert(holds(number))
    let word = (number >> 8 & 0xFFFF << 40 | number & Self.maximumRest).bigEndian
    // Memory safety: the bytes belong to this frame and are used only during the call.
    return try withUnsafeBytes(of: word) { (bytes) throws(E) -> R in
      try body(UnsafeRawBufferPointer(rebasing: bytes[(8 - size)...]))
    }
  }
}

/// The numbers in a run of bytes that a cursor returns for one key. In a forged file, a run may end
/// within a number; such a remainder is skipped.
@usableFromInline
package struct PackedNumbers: Sequence {
  @usableFromInline let form: NumberForm
  @usableFromInline let bytes: UnsafeRawBufferPointer

  @inlinable @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, _ form: NumberForm) {
    self.form = form
    self.bytes = bytes
  }

  @inlinable package var count: Int { bytes.count / form.size }

  @inlinable @inline(__always)
  package var underestimatedCount: Int { count }

  @usableFromInline
  package struct Iterator: IteratorProtocol {
    @usableFromInline let form: NumberForm
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var end: Int

    @inlinable @inline(__always)
    init(form: NumberForm, bytes: UnsafeRawBufferPointer) {
      self.form = form
      self.bytes = bytes
      end = form.size
    }

    @inlinable @inline(__always)
    package mutating func next() -> UInt64? {
      guard end <= bytes.count, let start = bytes.baseAddress else { return nil }
      defer { end &+= form.size }
      return form.number(endingAt: start + end)
    }
  }

  @inlinable @inline(__always)
  package func makeIterator() -> Iterator { Iterator(form: form, bytes: bytes) }
}

extension [UInt64] {
  /// Appends all numbers.
  package mutating func append(_ numbers: PackedNumbers) {
    let start = count
    append(contentsOf: repeatElement(0, count: numbers.count))
    withUnsafeMutableBufferPointer { room in
      var index = start
      for number in numbers {
        room[index] = number
        index &+= 1
      }
    }
  }
}

// MARK: - Operations with numbers as values

extension Cursor {
  /// Returns the number that an entry of a database of numbers has as its value, or 0 if the value
  /// has another size in a damaged file.
  @inlinable @inline(__always)
  package func number(of entry: Entry) -> UInt64 { numbers.number(entry.value) }

  /// Moves to the first entry with exactly this key whose number is not less than the given one.
  package func seek(
    _ key: UnsafeRawBufferPointer, number: UInt64
  ) throws(LMDBError) -> Entry? {
    guard let number = numbers.atLeast(number) else { return nil }
    return try numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try seek(key, value: value)
    }
  }

  /// Moves to the entry with exactly this key and number.
  package func seekExact(_ key: UInt64, number: UInt64) throws(LMDBError) -> Entry? {
    guard numbers.holds(number) else { return nil }
    return try numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try key.withBytes { (key) throws(LMDBError) in try seekExact(key, value: value) }
    }
  }

  /// Returns the first numbers of a key, or `nil` if the key is missing. ``nextNumbers()`` returns
  /// the rest.
  @inlinable @inline(__always)
  package func firstNumbers(_ key: some EntryBytes) throws(LMDBError) -> PackedNumbers? {
    try firstBatch(key).map { PackedNumbers($0, numbers) }
  }

  /// Returns the next numbers of the same key, or `nil` after the last one.
  @inlinable @inline(__always)
  package func nextNumbers() throws(LMDBError) -> PackedNumbers? {
    try nextBatch().map { PackedNumbers($0, numbers) }
  }

  /// Puts an entry with a number as its value, like ``put(key:value:_:isCounted:)``.
  @inlinable @inline(__always)
  @discardableResult
  package func put(
    key: some EntryBytes, number: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    guard numbers.holds(number) else { throw .badValueSize }
    return try numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try put(key: key, value: value, mode)
    }
  }
}

extension WriteTransaction {
  /// Puts an entry with a number as its value. Throws ``LMDBError/badValueSize`` for a number that
  /// cannot be stored, as from a forged file.
  @inlinable @inline(__always)
  @discardableResult
  package func put(
    _ database: Database, key: some EntryBytes, number: UInt64, _ mode: PutMode
  ) throws(LMDBError) -> Bool {
    guard database.numbers.holds(number) else { throw .badValueSize }
    return try database.numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try put(database, key: key, value: value, mode)
    }
  }

  /// Deletes one number of a key. Returns `false` if it does not exist.
  @inlinable @inline(__always)
  @discardableResult
  package func delete(
    _ database: Database, key: some EntryBytes, number: UInt64
  ) throws(LMDBError) -> Bool {
    guard database.numbers.holds(number) else { return false }
    return try database.numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try delete(database, key: key, value: value)
    }
  }

  /// Counts a number as removed from a key or added to it, after an uncounted clear.
  @inlinable @inline(__always)
  package func count(
    _ number: UInt64, of key: UnsafeRawBufferPointer, in database: Database, isRemoval: Bool
  ) {
    guard database.numbers.holds(number) else { return }
    database.numbers.withBytes(of: number) { value in
      if isRemoval {
        countRemoval(database, key: key, value: value)
      } else {
        countAddition(database, key: key, value: value)
      }
    }
  }
}
