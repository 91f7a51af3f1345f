#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One end of a range of keys: bytes, or a number for a database with integer keys.
package enum KeyBound: Sendable, Hashable {
  case unbounded
  case included([UInt8])
  case excluded([UInt8])
  case includedNumber(UInt64)
  case excludedNumber(UInt64)

  var isExcluded: Bool {
    switch self {
    case .excluded, .excludedNumber: true
    case .unbounded, .included, .includedNumber: false
    }
  }

  /// How a key stands to this end: below 0 before it, 0 on it, above 0 behind it.
  @inline(__always)
  fileprivate func order(_ key: UnsafeRawBufferPointer) -> Int {
    switch self {
    case .unbounded: return 0
    case .included(let bytes), .excluded(let bytes):
      return bytes.withUnsafeBytes { bytes in
        let shared = min(key.count, bytes.count)
        if shared > 0, let left = key.baseAddress, let right = bytes.baseAddress {
          let order = Int(memcmp(left, right, shared))
          if order != 0 { return order }
        }
        return key.count - bytes.count
      }
    case .includedNumber(let number), .excludedNumber(let number):
      let own = key.loadUnaligned(as: UInt64.self)
      return own < number ? -1 : own == number ? 0 : 1
    }
  }
}

/// The entries between two keys, one after the other, forward or backward.
///
/// ```
/// var range = try transaction.range(ages, from: .included(thirty), to: .excluded(forty))
/// while let entry = try range.next() { numbers.append(entry.integerValue) }
/// ```
package struct CursorRange: ~Copyable {
  package enum Direction: Sendable { case forward, backward }

  /// The cursor that scans, for batches and counts of the present key. Moving it moves the scan.
  package let cursor: Cursor
  private let lower: KeyBound
  private let upper: KeyBound
  private let isForward: Bool
  private var hasBegun = false
  private var hasEnded = false

  init(
    _ cursor: consuming Cursor, _ flags: DatabaseFlags, _ lower: KeyBound, _ upper: KeyBound,
    _ direction: Direction
  ) {
    precondition(
      lower.suits(flags) && upper.suits(flags),
      "Give numbers as bounds of a database with integer keys, and bytes to all others.")
    self.cursor = cursor
    self.lower = lower
    self.upper = upper
    isForward = direction == .forward
  }

  /// The next entry in the direction of the scan; nil behind the last one.
  package mutating func next() throws(LMDBError) -> Entry? {
    try advance(byKey: false)
  }

  /// The first entry of the next key; scanning backward the last entry of the key before.
  package mutating func nextKey() throws(LMDBError) -> Entry? {
    try advance(byKey: true)
  }

  /// The number of entries that are still to come, without visiting duplicates; stops counting
  /// once it has reached `limit`.
  package mutating func countRemaining(limit: Int = .max) throws(LMDBError) -> Int {
    var count = 0
    while count < limit, try nextKey() != nil { count += try cursor.valueCount() }
    return count
  }

  @inline(__always)
  private mutating func advance(byKey: Bool) throws(LMDBError) -> Entry? {
    if hasEnded { return nil }
    let entry: Entry?
    if hasBegun {
      switch (isForward, byKey) {
      case (true, false): entry = try cursor.next()
      case (true, true): entry = try cursor.nextKey()
      case (false, false): entry = try cursor.previous()
      case (false, true): entry = try cursor.previousKey()
      }
    } else {
      hasBegun = true
      entry = isForward ? try lowest() : try highest()
    }
    if let entry, contains(entry.key) { return entry }
    hasEnded = true
    return nil
  }

  /// Whether the scan has not passed its far end; the near end was seen to by the first step.
  @inline(__always)
  private func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    let end = isForward ? upper : lower
    if case .unbounded = end { return true }
    let order = end.order(key)
    if order == 0 { return !end.isExcluded }
    return isForward ? order < 0 : order > 0
  }

  private func lowest() throws(LMDBError) -> Entry? {
    guard let entry = try seek(lower) else { return nil }
    if lower.isExcluded, lower.order(entry.key) == 0 { return try cursor.nextKey() }
    return entry
  }

  private func highest() throws(LMDBError) -> Entry? {
    if case .unbounded = upper { return try cursor.last() }
    guard let entry = try seek(upper) else { return try cursor.last() }
    if upper.order(entry.key) == 0, !upper.isExcluded {
      return cursor.hasDuplicates ? try lastValue() : entry
    }
    return try cursor.previousKey()
  }

  /// The last value of the present key. LMDB moves the key's inner cursor but returns no key.
  private func lastValue() throws(LMDBError) -> Entry? {
    guard try cursor.lastDuplicate() != nil else { return nil }
    return try cursor.current()
  }

  private func seek(_ bound: KeyBound) throws(LMDBError) -> Entry? {
    switch bound {
    case .unbounded: try cursor.first()
    case .included(let key), .excluded(let key):
      // LMDB has no empty keys, and refuses to look for one.
      key.isEmpty ? try cursor.first() : try cursor.seek(key)
    case .includedNumber(let key), .excludedNumber(let key): try cursor.seek(key)
    }
  }
}

extension KeyBound {
  fileprivate func suits(_ flags: DatabaseFlags) -> Bool {
    switch self {
    case .unbounded: true
    case .included, .excluded: !flags.contains(.integerKey)
    case .includedNumber, .excludedNumber: flags.contains(.integerKey)
    }
  }
}
