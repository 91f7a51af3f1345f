/// The stored form of the numbers in a database of number sets.
///
/// A number consists of a prefix of 16 bits, 8 bits that are zero, and a rest of 40 bits. Stored are
/// the prefix and the rest, or only the rest if all numbers have the same prefix, in big-endian
/// order, so that comparing bytes compares numbers.
@usableFromInline
package struct NumberForm: Sendable, Hashable {
  /// The greatest rest of a number.
  package static let maximumRest: UInt64 = 1 << 40 - 1
  private static let prefixShift: UInt64 = 48

  /// The number of bytes of a stored number.
  package let size: Int
  /// The common prefix, in its place in a number, or 0 if prefixes are stored.
  private let prefix: UInt64
  /// The stored prefix in a stored number, or 0 if the prefix is common.
  private let prefixMask: UInt64

  /// Numbers with any prefix, in 7 bytes.
  package static let wide = NumberForm(size: 7, prefix: 0, prefixMask: 0xFFFF << 40)

  /// Returns the form of numbers with one prefix, in 5 bytes.
  package static func narrow(prefix: UInt16) -> NumberForm {
    NumberForm(size: 5, prefix: UInt64(prefix) << prefixShift, prefixMask: 0)
  }

  /// Returns the number whose bytes end at an address.
  ///
  /// Memory safety: the 8 bytes before the address are read. In a page, at least a header precedes
  /// every value. Bytes after the address may be those of another page.
  @inline(__always)
  func number(endingAt end: UnsafeRawPointer) -> UInt64 {
    let word = UInt64(bigEndian: (end - 8).loadUnaligned(as: UInt64.self))
    return prefix | (word & prefixMask) << 8 | word & Self.maximumRest
  }

  /// Returns the number that a value in a page consists of, or 0 if the value has another size.
  @inline(__always)
  package func number(_ value: UnsafeRawBufferPointer) -> UInt64 {
    guard value.count == size, let start = value.baseAddress else { return 0 }
    return number(endingAt: start + size)
  }

  /// Returns whether a number can be stored.
  @inline(__always)
  func holds(_ number: UInt64) -> Bool {
    number & ~(prefixMask << 8 | Self.maximumRest) == prefix
  }

  /// Returns the least number that can be stored and is not less than the given one.
  func atLeast(_ number: UInt64) -> UInt64? {
    if holds(number) { return number }
    if prefixMask == 0, number >> Self.prefixShift < prefix >> Self.prefixShift { return prefix }
    // Too great a rest, which the next prefix follows, or too great a prefix.
    let next = (number >> Self.prefixShift + 1) << Self.prefixShift
    return prefixMask == 0 || next == 0 ? nil : next
  }

  /// Calls `body` with the stored bytes of a number, which ``holds(_:)`` must accept.
  @inline(__always)
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
package struct PackedNumbers: Sequence {
  private let form: NumberForm
  private let bytes: UnsafeRawBufferPointer

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, _ form: NumberForm) {
    self.form = form
    self.bytes = bytes
  }

  package var count: Int { bytes.count / form.size }

  @inline(__always)
  package var underestimatedCount: Int { count }

  package struct Iterator: IteratorProtocol {
    fileprivate let form: NumberForm
    fileprivate let bytes: UnsafeRawBufferPointer
    fileprivate var end: Int

    @inline(__always)
    package mutating func next() -> UInt64? {
      guard end <= bytes.count, let start = bytes.baseAddress else { return nil }
      defer { end &+= form.size }
      return form.number(endingAt: start + end)
    }
  }

  @inline(__always)
  package func makeIterator() -> Iterator { Iterator(form: form, bytes: bytes, end: form.size) }
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
  @inline(__always)
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
  @inline(__always)
  package func firstNumbers(_ key: some EntryBytes) throws(LMDBError) -> PackedNumbers? {
    try firstBatch(key).map { PackedNumbers($0, numbers) }
  }

  /// Returns the next numbers of the same key, or `nil` after the last one.
  @inline(__always)
  package func nextNumbers() throws(LMDBError) -> PackedNumbers? {
    try nextBatch().map { PackedNumbers($0, numbers) }
  }

  /// Puts an entry with a number as its value, like ``put(key:value:_:isCounted:)``.
  @inline(__always)
  @discardableResult
  package func put(
    key: some EntryBytes, number: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try put(key: key, value: value, mode)
    }
  }
}

extension WriteTransaction {
  /// Puts an entry with a number as its value.
  @inline(__always)
  @discardableResult
  package func put(
    _ database: Database, key: some EntryBytes, number: UInt64, _ mode: PutMode
  ) throws(LMDBError) -> Bool {
    try database.numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try put(database, key: key, value: value, mode)
    }
  }

  /// Deletes one number of a key. Returns `false` if it does not exist.
  @inline(__always)
  @discardableResult
  package func delete(
    _ database: Database, key: some EntryBytes, number: UInt64
  ) throws(LMDBError) -> Bool {
    try database.numbers.withBytes(of: number) { (value) throws(LMDBError) in
      try delete(database, key: key, value: value)
    }
  }

  /// Counts a number as removed from a key or added to it, after an uncounted clear.
  @inline(__always)
  package func count(
    _ number: UInt64, of key: UnsafeRawBufferPointer, in database: Database, isRemoval: Bool
  ) {
    database.numbers.withBytes(of: number) { value in
      if isRemoval {
        countRemoval(database, key: key, value: value)
      } else {
        countAddition(database, key: key, value: value)
      }
    }
  }
}
