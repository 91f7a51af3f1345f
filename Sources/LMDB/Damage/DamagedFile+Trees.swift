/// Traverses the undamaged parts of trees in a damaged file.
extension DamagedFile {
  /// Calls `entry` with the entries of a tree in key order.
  ///
  /// A page belongs to only one tree: pages that have already been visited are not visited again.
  /// The entries of a damaged leaf are passed on if they are within its bounds, and the key range
  /// of the leaf is reported as lost.
  ///
  /// - Parameters:
  ///   - entry: Called with an entry and whether its page is undamaged.
  ///   - lost: Called with the key ranges of parts that cannot be traversed.
  /// - Returns: Whether the whole tree is undamaged.
  @discardableResult
  package func traverse(
    _ tree: DamagedTree,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void,
    lost: @escaping (LostRange) -> Void = { _ in }
  ) throws(LMDBError) -> Bool {
    try traverse(
      TreeTraversal(.named, tree.name, tree.record, rootLevel: firstFreeLevel), entry, lost: lost)
  }

  func traverse(
    _ traversal: TreeTraversal,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void,
    packed: @escaping (UnsafeRawBufferPointer) throws(LMDBError) -> Void = { _ in },
    lost: @escaping (LostRange) -> Void = { _ in }
  ) throws(LMDBError) -> Bool {
    var traversal = traversal
    guard traversal.recordComplaint == nil else {
      lost(LostRange())
      return false
    }
    if traversal.record.isEmpty { return true }
    let visitor = Visitor(entry: entry, packed: packed, lost: lost)
    return try visit(traversal.record.root, &traversal, depth: 1, PageVerifier.KeyRange(), visitor)
  }

  private struct Visitor {
    let entry: (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void
    let packed: (UnsafeRawBufferPointer) throws(LMDBError) -> Void
    let lost: (LostRange) -> Void
  }

  /// Visits a page and its subtree. Returns `false` if a part of it is lost.
  private func visit(
    _ number: UInt64, _ tree: inout TreeTraversal, depth: Int, _ range: PageVerifier.KeyRange,
    _ visitor: borrowing Visitor
  ) throws(LMDBError) -> Bool {
    let level = tree.rootLevel + depth - 1
    if isStopped() { throw .closed }
    firstFreeLevel = level + 1
    defer { firstFreeLevel = tree.rootLevel }
    guard number >= 2, number < pageCount, depth <= tree.record.depth,
      let page = read(number, level: level), page.number == number, reached.insert(number)
    else {
      visitor.lost(LostRange(range))
      return false
    }
    let isLeafLevel = depth == tree.record.depth
    switch page.flags {
    case .branch where !isLeafLevel:
      return try visitBranch(page, &tree, depth: depth, range, visitor)
    case .leaf where isLeafLevel:
      let isSound = isSound(page, &tree, range)
      if !isSound { visitor.lost(LostRange(range)) }
      try page.forEachDamagedEntry { (entry) throws(LMDBError) in
        firstFreeLevel = level + 1
        try visitor.entry(entry, isSound)
      }
      return isSound
    case [.leaf, .packed] where isLeafLevel && tree.kind == .values:
      return try visitPacked(page, tree, range, visitor)
    default:
      visitor.lost(LostRange(range))
      return false
    }
  }

  private func visitBranch(
    _ page: RawPage, _ tree: inout TreeTraversal, depth: Int, _ range: PageVerifier.KeyRange,
    _ visitor: borrowing Visitor
  ) throws(LMDBError) -> Bool {
    guard buffers.nodeComplaint(page, isLeaf: false) == nil, page.count >= 2,
      ascends(page, from: 1, &tree, range)
    else {
      visitor.lost(LostRange(range))
      return false
    }
    var isWhole = true
    for index in 0..<page.count {
      let below = page.range(of: index, in: range)
      if try !visit(page.node(index).child, &tree, depth: depth + 1, below, visitor) {
        isWhole = false
      }
    }
    return isWhole
  }

  private func isSound(
    _ page: RawPage, _ tree: inout TreeTraversal, _ range: PageVerifier.KeyRange
  ) -> Bool {
    buffers.nodeComplaint(page, isLeaf: true) == nil && page.count > 0
      && ascends(page, from: 0, &tree, range)
  }

  /// Returns whether the keys of a page ascend within a range, starting at a node.
  private func ascends(
    _ page: RawPage, from first: Int, _ tree: inout TreeTraversal, _ range: PageVerifier.KeyRange
  ) -> Bool {
    var last: UnsafeRawBufferPointer?
    for index in first..<page.count {
      let key = page.node(index).key
      guard tree.sizeComplaint(key) == nil else { return false }
      if let last {
        if tree.order.compare(last, key) >= 0 { return false }
      } else if let lower = range.lower {
        // The first key of a leaf may equal its separator.
        let order = tree.order.compare(lower, key)
        if first == 0 ? order > 0 : order >= 0 { return false }
      }
      last = key
    }
    guard let last, let upper = range.upper else { return true }
    return tree.order.compare(last, upper) < 0
  }

  private func visitPacked(
    _ page: RawPage, _ tree: TreeTraversal, _ range: PageVerifier.KeyRange,
    _ visitor: borrowing Visitor
  ) throws(LMDBError) -> Bool {
    guard let count = page.packedCount, page.packedKeySize == Int(tree.record.pad) else {
      visitor.lost(LostRange(range))
      return false
    }
    for index in 0..<count {
      try visitor.packed(
        page.part(RawPage.headerSize + index * page.packedKeySize, page.packedKeySize))
    }
    return true
  }

  // MARK: Values

  /// Calls `body` with the value of an entry, or with `nil` if its pages are lost.
  package func withValue<R>(
    of entry: DamagedEntry, _ body: (UnsafeRawBufferPointer?) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    switch entry.flags {
    case []: try body(entry.data.bytes)
    case .largeData: try body(readRun(entry.firstPage ?? 0, size: entry.size))
    default: try body(nil)
    }
  }

  /// Calls `body` with the values of an entry of a database whose values all have the same size.
  ///
  /// - Parameter flags: The flags of the database.
  /// - Returns: Whether all values are present.
  package func forEachValue(
    of entry: DamagedEntry, _ flags: DatabaseFlags, size: Int,
    _ body: @escaping (UnsafeRawBufferPointer) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool {
    switch entry.flags {
    case []:
      guard entry.size == size else { return false }
      try body(entry.data.bytes)
      return true
    case .values:
      let page = entry.data
      guard page.size >= RawPage.headerSize, let count = page.packedCount,
        page.packedKeySize == size
      else { return false }
      for index in 0..<count { try body(page.part(RawPage.headerSize + index * size, size)) }
      return true
    case [.values, .tree]:
      guard entry.size == TreeRecord.size else { return false }
      let record = TreeRecord(entry.data)
      guard record.flags == TreeTraversal.valueFlags(flags), record.pad == UInt32(size) else {
        return false
      }
      let owner = TreeTraversal(
        .named, "", TreeRecord(flags: flags, pad: 0), rootLevel: firstFreeLevel)
      let traversal = TreeTraversal(valuesOf: owner, record, rootLevel: firstFreeLevel)
      return try traverse(traversal, { (_, _) throws(LMDBError) in }, packed: body)
    default: return false
    }
  }
}

extension RawPage {
  /// The number of packed keys of a page, or `nil` if they exceed its bounds.
  var packedCount: Int? {
    let (size, count) = (packedKeySize, (lower - Self.headerSize) / 2)
    guard flags.contains(.packed), size > 0, lower >= Self.headerSize, lower % 2 == 0,
      Self.headerSize + count * size <= self.size
    else { return nil }
    return count
  }
}
