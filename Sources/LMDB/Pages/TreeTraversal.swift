/// A tree that is being verified: what the file says about it, and what has been met so far.
struct TreeTraversal {
  enum Kind {
    /// The lists of free pages.
    case free
    /// The names of the databases.
    case main
    /// A database.
    case named
    /// The values of one key, as the keys of a tree of their own.
    case values
  }

  /// LMDB's cursors follow no deeper tree.
  static let mostLevels = 32
  /// The longest key, and the longest value among several of a key.
  static let mostKeyBytes = 511

  let kind: Kind
  let name: String
  let record: TreeRecord
  let order: KeyOrder
  /// The level of the buffers on which the root lies.
  let rootLevel: Int
  /// The size that every key has; 0 as long as none was met, nil where they differ freely.
  var keySize: Int?
  /// The same for values of which a key has several.
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

  /// The values of one key of `owner`. Their sizes go on from what its other keys have shown.
  init(valuesOf owner: TreeTraversal, _ record: TreeRecord, rootLevel: Int) {
    kind = .values
    name = owner.name
    self.record = record
    self.rootLevel = rootLevel
    order = KeyOrder(valuesOf: owner.record.flags)
    keySize = owner.valueSize
  }

  /// The record that LMDB gives the values of a key in a database with these flags.
  static func valueFlags(_ owner: DatabaseFlags) -> DatabaseFlags {
    guard owner.contains(.fixedDuplicates) else { return [] }
    return owner.contains(.integerDuplicates) ? [.fixedDuplicates, .integerKey] : .fixedDuplicates
  }

  /// What is wrong with the record itself.
  var recordComplaint: String? { record.complaint(as: kind) }

  /// What is wrong with the counters, once every page was met.
  var countComplaint: String? {
    guard overflowPages == record.overflowPages else {
      return "its page counts don't match"
    }
    if let what = pageComplaint { return what }
    guard entries == record.entries else {
      return "it has \(entries) entries instead of \(record.entries)"
    }
    return nil
  }

  /// What is wrong with the counters of branches and leaves.
  var pageComplaint: String? {
    branchPages == record.branchPages && leafPages == record.leafPages
      ? nil : "its page counts don't match"
  }

  /// What is wrong with the size of a key; remembers the size that all have to share.
  @inline(__always)
  mutating func sizeComplaint(_ key: UnsafeRawBufferPointer) -> String? {
    if key.count == keySize, key.count > 0 { return nil }
    if key.count > Self.mostKeyBytes || (key.count == 0 && kind != .values) {
      return "it has a key of \(key.count) bytes"
    }
    return Self.share(key.count, &keySize, areIntegers: order == .integers)
  }

  /// Whether a value has the size that all have to share, as far as that is known.
  @inline(__always)
  func hasValueSize(_ size: Int) -> Bool { size == valueSize && size > 0 }

  /// What is wrong with the size of a value of which the key may have several.
  mutating func valueComplaint(_ size: Int) -> String? {
    if size > Self.mostKeyBytes { return "it has a sorted value of \(size) bytes" }
    return Self.share(size, &valueSize, areIntegers: record.flags.contains(.integerDuplicates))
  }

  private static func share(_ size: Int, _ common: inout Int?, areIntegers: Bool) -> String? {
    guard let expected = common else { return nil }
    if areIntegers, size != 8, size != 4 { return "it has an integer of \(size) bytes" }
    if expected != 0, expected != size {
      return "it has keys or values of \(size) bytes instead of \(expected)"
    }
    common = size
    return nil
  }
}

extension TreeRecord {
  /// What is wrong with the record of a tree of a kind, as far as it tells without the pages.
  func complaint(as kind: TreeTraversal.Kind) -> String? {
    if kind == .named, !hasKnownFlags { return "it has unknown flags" }
    if isEmpty {
      let counters = branchPages | leafPages | overflowPages | entries
      return depth == 0 && counters == 0 ? nil : "it is empty but has pages or entries"
    }
    return (1...TreeTraversal.mostLevels).contains(depth) ? nil : "its depth is \(depth)"
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
