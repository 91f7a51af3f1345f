/// An entry of a leaf that may be damaged. It lies inside of the page; nothing else is certain.
///
/// Valid until the next page is read.
package struct DamagedEntry {
  package let key: UnsafeRawBufferPointer
  let flags: NodeFlags
  /// The value, or what leads to it.
  let data: RawPage
  /// The size of the value.
  package let size: Int
  /// Whether it lies where its page says that no entry lies: it may have been deleted before.
  package let isOutside: Bool

  init(_ node: RawNode) {
    isOutside = node.offset < node.page.upper
    key = node.key
    flags = node.flags
    data = node.data
    size = node.dataSize
  }

  /// The value, where it lies in the page.
  package var inlineValue: UnsafeRawBufferPointer? { flags == [] ? data.bytes : nil }

  /// The first of the pages that the value fills, where it lies outside of the page.
  package var firstPage: UInt64? { flags == .largeData ? data.word(0) : nil }

  /// The database that an entry among the names leads to; nil for another entry.
  package var tree: DamagedTree? {
    guard flags == .tree, size == TreeRecord.size, !key.isEmpty,
      let name = String(validating: key, as: UTF8.self)
    else { return nil }
    return DamagedTree(name: name, record: TreeRecord(data))
  }
}

/// A database as an entry among the names tells of it.
package struct DamagedTree {
  package let name: String
  let record: TreeRecord

  /// How many entries it says that it has.
  package var entryCount: UInt64 { record.entries }
  package var flags: DatabaseFlags { record.flags }
}

/// The keys that a part of a tree may have held that is lost: from the lower one on, and before the
/// upper one.
package struct LostRange: Sendable {
  package var lower: [UInt8]?
  package var upper: [UInt8]?
}

extension LostRange {
  init(_ range: PageVerifier.KeyRange) {
    self.init(lower: range.lower.map { Array($0) }, upper: range.upper.map { Array($0) })
  }

  /// The range of a database with integer keys; it holds the upper bound.
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
  /// Hands on the entries of a leaf that lie inside of it, whatever else is wrong.
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
