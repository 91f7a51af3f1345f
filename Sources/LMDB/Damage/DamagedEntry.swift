/// An entry of a leaf page that may be damaged. Only its bounds within the page are certain.
///
/// Valid until the next page is read.
package struct DamagedEntry {
  package let key: UnsafeRawBufferPointer
  let flags: NodeFlags
  /// The value, or a reference to it.
  let data: RawPage
  /// The size of the value in bytes.
  package let size: Int
  /// Whether the entry is in an area that the page marks as unused, so that it may have been
  /// deleted.
  package let isOutside: Bool

  init(_ node: RawNode) {
    isOutside = node.offset < node.page.upper
    key = node.key
    flags = node.flags
    data = node.data
    size = node.dataSize
  }

  /// The value, if it is stored in the page.
  package var inlineValue: UnsafeRawBufferPointer? { flags == [] ? data.bytes : nil }

  /// The number of the value's first overflow page, or `nil` if it has none.
  package var firstPage: UInt64? { flags == .largeData ? data.word(0) : nil }

  /// The database that an entry of the name tree refers to, or `nil` for other entries.
  package var tree: DamagedTree? {
    guard flags == .tree, size == TreeRecord.size, !key.isEmpty,
      let name = String(validating: key, as: UTF8.self)
    else { return nil }
    return DamagedTree(name: name, record: TreeRecord(data))
  }
}

/// A database as described by its entry in the name tree.
package struct DamagedTree {
  package let name: String
  let record: TreeRecord

  /// The number of entries according to the tree's record.
  package var entryCount: UInt64 { record.entries }
  package var flags: DatabaseFlags { record.flags }
}

/// The half-open range of keys that a lost part of a tree may have contained.
package struct LostRange: Sendable {
  package var lower: [UInt8]?
  package var upper: [UInt8]?
}

extension LostRange {
  init(_ range: PageVerifier.KeyRange) {
    self.init(lower: range.lower.map { Array($0) }, upper: range.upper.map { Array($0) })
  }

  /// The range as numbers, for a database with integer keys, or `nil` if it is empty.
  package var numbers: ClosedRange<UInt64>? {
    func number(_ key: [UInt8]) -> UInt64? {
      key.count == 8 ? key.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } : nil
    }
    let first = lower.flatMap(number) ?? 0
    guard let upper = upper.flatMap(number) else { return first...UInt64.max }
    return upper > first ? first...(upper - 1) : nil
  }
}

extension RawPage {
  /// Calls `body` with the entries of a leaf that are within its bounds, regardless of other
  /// damage.
  func forEachDamagedEntry(_ body: (DamagedEntry) throws(LMDBError) -> Void) throws(LMDBError) {
    let end = min(lower, size)
    guard end >= Self.headerSize else { return }
    for index in 0..<(end - Self.headerSize) / 2 {
      let offset = nodeOffset(index)
      guard offset >= Self.headerSize, offset + Self.nodeHeaderSize <= size else { continue }
      let node = node(index)
      guard node.dataOffset + node.heldSize <= size else { continue }
      if node.flags.contains(.largeData), node.dataOffset + 8 > size { continue }
      try body(DamagedEntry(node))
    }
  }
}
