/// A tree that is being verified: its record, and the numbers of pages and entries visited so far.
struct TreeTraversal {
  enum Kind {
    /// The free lists.
    case free
    /// The names of the databases.
    case main
    /// A database.
    case named
    /// The values of one key, which are the keys of their own tree.
    case values
  }

  /// The maximum depth that LMDB's cursors follow.
  static let maximumDepth = 32
  /// The maximum size in bytes of a key, and of each value of a key with several values.
  static let maximumKeySize = 511

  let kind: Kind
  let name: String
  let record: TreeRecord
  let order: KeyOrder
  /// The buffer level of the root.
  let rootLevel: Int
  /// The size that all keys must share: 0 until one has been visited, or `nil` if sizes may vary.
  var keySize: Int?
  /// The size that all values of keys with several values must share: 0 until one has been visited,
  /// or `nil` if sizes may vary.
  var valueSize: Int?

  var branchPages: UInt64 = 0
  var leafPages: UInt64 = 0
  var overflowPages: UInt64 = 0
  var entries: UInt64 = 0

  var hasSeveralValues: Bool { kind == .named && record.flags.contains(.duplicates) }

  init(_ kind: Kind, _ name: String, _ record: TreeRecord, rootLevel: Int) {
    self.kind = kind
    self.name = name
    self.record = record
    self.rootLevel = rootLevel
    order = kind == .free ? .integers : KeyOrder(keysOf: record.flags)
    keySize = order == .integers ? 0 : nil
    let isFixed = !record.flags.isDisjoint(with: [.fixedDuplicates, .integerDuplicates])
    valueSize = isFixed ? 0 : nil
  }

  /// Creates the traversal of the values of one of `owner`'s keys, whose sizes must match those of
  /// its other keys.
  init(valuesOf owner: TreeTraversal, _ record: TreeRecord, rootLevel: Int) {
    kind = .values
    name = owner.name
    self.record = record
    self.rootLevel = rootLevel
    order = KeyOrder(valuesOf: owner.record.flags)
    keySize = owner.valueSize
  }

  /// Returns the flags in the record of a key's values in a database with these flags.
  static func valueFlags(_ owner: DatabaseFlags) -> DatabaseFlags {
    guard owner.contains(.fixedDuplicates) else { return [] }
    return owner.contains(.integerDuplicates) ? [.fixedDuplicates, .integerKey] : .fixedDuplicates
  }

  /// A description of the damage to the record itself, if any.
  var recordComplaint: String? { record.complaint(as: kind) }

  /// A description of wrong counters, if any. Requires that every page has been visited.
  var countComplaint: String? {
    guard overflowPages == record.overflowPages else {
      return "its count of overflow pages is \(record.overflowPages) instead of \(overflowPages)"
    }
    if let what = pageComplaint { return what }
    guard entries == record.entries else {
      return "its entry count is \(record.entries) instead of \(entries)"
    }
    return nil
  }

  /// A description of wrong counts of branch and leaf pages, if any.
  var pageComplaint: String? {
    branchPages == record.branchPages && leafPages == record.leafPages
      ? nil
      : "its page counts are \(record.branchPages) branch and \(record.leafPages) leaf pages "
        + "instead of \(branchPages) and \(leafPages)"
  }

  /// Returns a description of the problem if a key's size is invalid. Records the size that all keys
  /// must share.
  @inline(__always)
  mutating func sizeComplaint(_ key: UnsafeRawBufferPointer) -> String? {
    if key.count == keySize, key.count > 0 { return nil }
    if key.count > Self.maximumKeySize || (key.count == 0 && kind != .values) {
      return "it has a key of \(key.count) bytes, outside the range 1 to \(Self.maximumKeySize)"
    }
    return Self.share(key.count, &keySize, areIntegers: order == .integers)
  }

  /// Returns whether a value has the size that all must share, if it is known.
  @inline(__always)
  func hasValueSize(_ size: Int) -> Bool { size == valueSize && size > 0 }

  /// Returns a description of the problem if the size of a value of a key with several values is
  /// invalid.
  mutating func valueComplaint(_ size: Int) -> String? {
    if size > Self.maximumKeySize {
      return "it has a sorted value of \(size) bytes, more than the maximum of "
        + "\(Self.maximumKeySize)"
    }
    return Self.share(size, &valueSize, areIntegers: record.flags.contains(.integerDuplicates))
  }

  private static func share(_ size: Int, _ common: inout Int?, areIntegers: Bool) -> String? {
    guard let expected = common else { return nil }
    if areIntegers, size != 8, size != 4 {
      return "it has an integer of \(size) bytes instead of 4 or 8"
    }
    if expected != 0, expected != size {
      return "it has keys or values of \(size) bytes instead of \(expected)"
    }
    common = size
    return nil
  }
}

extension TreeRecord {
  /// Returns a description of the damage to a tree's record that is visible without its pages, or
  /// `nil` if there is none.
  func complaint(as kind: TreeTraversal.Kind) -> String? {
    if kind == .named, !hasKnownFlags { return "it has unknown flags" }
    if isEmpty {
      let counters = branchPages | leafPages | overflowPages | entries
      return depth == 0 && counters == 0 ? nil : "it is empty but has pages or entries"
    }
    let maximum = TreeTraversal.maximumDepth
    return (1...maximum).contains(depth)
      ? nil : "its depth is \(depth), outside the range 1 to \(maximum)"
  }

  private var hasKnownFlags: Bool {
    let known: DatabaseFlags = [
      .reverseKey, .integerKey, .duplicates, .fixedDuplicates, .integerDuplicates,
      .reverseDuplicates,
    ]
    let sorted: DatabaseFlags = [.fixedDuplicates, .integerDuplicates, .reverseDuplicates]
    return flags.isSubset(of: known) && pad == 0
      && (flags.contains(.duplicates) || flags.isDisjoint(with: sorted))
  }
}
