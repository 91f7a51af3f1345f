/// Trees of a damaged file, followed as far as they are sound.
extension DamagedFile {
  /// Hands on the entries of a tree in the order of their keys.
  ///
  /// A page belongs to one tree: what was reached before is not reached again. The entries of a
  /// leaf that is not sound are handed on as well, as far as they lie inside of it, and the keys
  /// that it may have held are lost.
  ///
  /// - Parameters:
  ///   - entry: Gets an entry, and whether its page is sound.
  ///   - lost: Gets the keys that a part of the tree may have held that cannot be followed.
  /// - Returns: Whether the whole tree is sound.
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

  /// Visits a page and what is below it; false where something of that is lost.
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

  /// Whether the keys of a page ascend within a range, from a node on.
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
        // A leaf may begin with the key that separates it.
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

  /// Hands on the value of an entry that has one; nil where its pages are lost.
  package func withValue<R>(
    of entry: DamagedEntry, _ body: (UnsafeRawBufferPointer?) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    switch entry.flags {
    case []: try body(entry.data.bytes)
    case .largeData: try body(readRun(entry.firstPage ?? 0, size: entry.size))
    default: try body(nil)
    }
  }

  /// Hands on the values of an entry of a database with values of one size.
  ///
  /// - Parameter flags: The flags of the database.
  /// - Returns: Whether all of them are there.
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
  /// How many packed keys a page has; nil where they do not lie inside of it.
  var packedCount: Int? {
    let (size, count) = (packedKeySize, (lower - Self.headerSize) / 2)
    guard flags.contains(.packed), size > 0, lower >= Self.headerSize, lower % 2 == 0,
      Self.headerSize + count * size <= self.size
    else { return nil }
    return count
  }
}
