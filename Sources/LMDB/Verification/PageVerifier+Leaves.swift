/// Verifies leaf pages: entries, large values, databases, and the values of a key with several.
extension PageVerifier {
  /// Verifies the entries of a leaf, which may be a page within a page.
  mutating func visitLeaf(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeTraversal, level: Int, _ range: KeyRange
  ) throws(LMDBError) {
    if page.flags.contains(.packed) {
      return try visitPackedLeaf(page, number, &tree, range)
    }
    guard !(tree.kind == .values && tree.record.flags.contains(.fixedDuplicates)) else {
      throw damage(tree, number, "it has nodes instead of packed values")
    }
    let nodes = try checkNodes(page, number, tree, isLeaf: true)
    guard page.count > 0 else { throw damage(tree, number, "it is an empty leaf") }
    if isPlain(nodes, tree), page.hasAscendingKeys(tree.order) {
      return try visitPlainLeaf(page, number, &tree, level: level, range)
    }
    var last: UnsafeRawBufferPointer?
    for index in 0..<page.count {
      let node = page.node(index)
      try accept(node.key, after: last, number, &tree, range)
      last = node.key
      try visitEntry(node, number, &tree, level: level)
    }
    try checkEnd(last, number, tree, range)
  }

  /// Returns whether all entries of a database's leaf are alike, so that verifying the first one is
  /// sufficient: each has one value, in its node, and keys and values have valid sizes. Most leaves
  /// are; others, and damage, are handled by verifying each entry.
  private func isPlain(_ nodes: NodeSummary, _ tree: TreeTraversal) -> Bool {
    guard tree.kind == .named || tree.kind == .main, nodes.haveNoFlags,
      nodes.haveKeys(upTo: TreeTraversal.maximumKeySize)
    else { return false }
    if tree.keySize != nil {
      guard nodes.haveOneKeySize else { return false }
      // Numbers are read at their full size.
      let size = nodes.first.keySize
      if tree.order == .integers, size != 8, size != 4 { return false }
    }
    guard tree.hasSeveralValues else { return true }
    return nodes.haveData(upTo: TreeTraversal.maximumKeySize)
      && (tree.valueSize == nil || nodes.haveOneDataSize)
  }

  /// Verifies the rest of a leaf whose entries are alike and whose keys ascend.
  private mutating func visitPlainLeaf(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeTraversal, level: Int, _ range: KeyRange
  ) throws(LMDBError) {
    let count = page.count
    try accept(page.node(0).key, after: nil, number, &tree, range)
    try visitEntry(page.node(0), number, &tree, level: level)
    tree.entries += UInt64(count - 1)
    try checkEnd(page.node(count - 1).key, number, tree, range)
  }

  /// Verifies packed values of the same size.
  private mutating func visitPackedLeaf(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeTraversal, _ range: KeyRange
  ) throws(LMDBError) {
    guard tree.kind == .values, tree.record.flags.contains(.fixedDuplicates) else {
      throw damage(tree, number, "it has packed values instead of nodes")
    }
    let size = page.packedKeySize
    let (lower, upper) = (page.lower, page.upper)
    guard size > 0, size == Int(tree.record.pad) else {
      throw damage(
        tree, number, "its packed values have \(size) bytes instead of \(tree.record.pad)")
    }
    guard lower >= RawPage.headerSize, lower % 2 == 0 else {
      throw damage(
        tree, number,
        "its lower bound is \(lower), not an even number of at least \(RawPage.headerSize)")
    }
    let count = page.count
    guard count > 0, RawPage.headerSize + count * size <= page.size,
      upper == page.size - count * (size - 2)
    else { throw damage(tree, number, "its packed values don't fit its bounds") }
    var last: UnsafeRawBufferPointer?
    // For ascending numbers, checking the first and the last is sufficient.
    let areNumbers = page.hasAscendingNumbers(count, size, tree.order)
    for index in stride(from: 0, to: count, by: areNumbers ? max(1, count - 1) : 1) {
      let key = page.part(RawPage.headerSize + index * size, size)
      try accept(key, after: last, number, &tree, range)
      last = key
    }
    tree.entries += UInt64(count)
    try checkEnd(last, number, tree, range)
  }

  /// Checks a key's size and position. The first key of a leaf may equal the separator.
  @inline(__always)
  private func accept(
    _ key: UnsafeRawBufferPointer, after last: UnsafeRawBufferPointer?, _ number: UInt64,
    _ tree: inout TreeTraversal, _ range: KeyRange
  ) throws(LMDBError) {
    if key.count != tree.keySize || key.count == 0, let what = tree.sizeComplaint(key) {
      throw damage(tree, number, what)
    }
    if let last {
      if !tree.order.isAscending(last, key) {
        throw damage(tree, number, "its keys are not in ascending order")
      }
    } else if let lower = range.lower, tree.order.compare(key, lower) < 0 {
      throw damage(tree, number, "a key is below the page's lower separator")
    }
  }

  private func checkEnd(
    _ last: UnsafeRawBufferPointer?, _ number: UInt64, _ tree: TreeTraversal, _ range: KeyRange
  ) throws(LMDBError) {
    if let last, let upper = range.upper, tree.order.compare(last, upper) >= 0 {
      throw damage(tree, number, "a key is not below the page's upper separator")
    }
  }

  // MARK: Entries

  private mutating func visitEntry(
    _ node: RawNode, _ number: UInt64, _ tree: inout TreeTraversal, level: Int
  ) throws(LMDBError) {
    switch node.flags {
    case []:
      if tree.kind == .values, node.dataSize != 0 {
        throw damage(tree, number, "a nested value has values of its own")
      }
      if tree.hasSeveralValues, !tree.hasValueSize(node.dataSize),
        let what = tree.valueComplaint(node.dataSize)
      {
        throw damage(tree, number, what)
      }
      if tree.kind == .free { try readFreeList(of: node, number, tree) }
      tree.entries += 1
    case .largeData where tree.kind != .values && !tree.hasSeveralValues:
      if scope != .page { try visitRun(of: node, number, &tree) }
      tree.entries += 1
    case .tree where tree.kind == .main && node.dataSize == TreeRecord.size:
      try visitDatabase(node, number, tree, level: level)
      tree.entries += 1
    case .values where tree.hasSeveralValues: try visitInnerPage(node, number, &tree, level: level)
    case [.values, .tree] where tree.hasSeveralValues && node.dataSize == TreeRecord.size:
      try visitValues(node, number, &tree, level: level)
    default: throw damage(tree, number, "an entry has a kind that is not valid in this database")
    }
  }

  /// Verifies the overflow pages of a value.
  private mutating func visitRun(
    of node: RawNode, _ number: UInt64, _ tree: inout TreeTraversal
  ) throws(LMDBError) {
    let first = node.data.word(0)
    let needed = UInt64((RawPage.headerSize - 1 + node.dataSize) / pageSize + 1)
    try claim(first, tree)
    var header: (UInt64, UInt64) = (0, 0)
    let offset = Int(first) * pageSize
    try withUnsafeMutableBytes(of: &header) { (bytes) throws(LMDBError) in
      guard try readFully(descriptor, bytes, at: offset) == bytes.count else {
        throw damage(tree, first, "it is past the end of the file")
      }
      let page = RawPage(bytes: UnsafeRawBufferPointer(bytes))
      guard page.number == first, page.flags == .overflow else {
        throw damage(tree, first, "it is not the overflow page that page \(number) expects")
      }
      guard page.runLength >= needed, page.runLength <= lastPage else {
        throw damage(
          tree, first,
          "its overflow page count is \(page.runLength), but its value needs \(needed)")
      }
      tree.overflowPages += page.runLength
      // A run has at least one page, and its last number cannot overflow, because both are bounded.
      for next in first + 1..<first + page.runLength { try claim(next, tree) }
      guard try first + page.runLength <= meta.heldPages(descriptor) else {
        throw damage(tree, first, "its overflow pages extend past the end of the file")
      }
    }
    guard tree.kind == .free else { return }
    try checkTransaction(node, number, tree)
    try readFreeList(ofRun: first, size: node.dataSize, number, tree)
  }

  private mutating func visitDatabase(
    _ node: RawNode, _ number: UInt64, _ tree: TreeTraversal, level: Int
  ) throws(LMDBError) {
    let name = String(decoding: node.key, as: UTF8.self)
    var named = TreeTraversal(.named, name, TreeRecord(node.data), rootLevel: level + 1)
    switch scope {
    case .trees: try visit(&named)
    case .branches:
      guard named.record.branchPages <= branchesLeft else { return }
      branchesLeft -= named.record.branchPages
      return try visit(&named)
    case .tree, .page: return
    }
    guard report.databases.count < Self.maximumDatabaseCount else {
      throw damage(tree, number, "it has more than \(Self.maximumDatabaseCount) names")
    }
    report.databases[name] = named.record.flags
  }

  // MARK: Several values

  /// Verifies values that are stored in a page within the page.
  private mutating func visitInnerPage(
    _ node: RawNode, _ number: UInt64, _ tree: inout TreeTraversal, level: Int
  ) throws(LMDBError) {
    let page = node.data
    let isFixed = tree.record.flags.contains(.fixedDuplicates)
    guard page.size >= RawPage.headerSize,
      page.flags == (isFixed ? [.leaf, .dirty, .inner, .packed] : [.leaf, .dirty, .inner])
    else { throw damage(tree, number, "a key's values are not a sub-page") }
    let record = TreeRecord(
      flags: TreeTraversal.valueFlags(tree.record.flags),
      pad: isFixed ? UInt32(page.packedKeySize) : 0)
    var values = TreeTraversal(valuesOf: tree, record, rootLevel: level + 1)
    try visitLeaf(page, number, &values, level: level, KeyRange())
    tree.valueSize = values.keySize
    tree.entries += values.entries
  }

  /// Verifies values that are stored in their own tree.
  private mutating func visitValues(
    _ node: RawNode, _ number: UInt64, _ tree: inout TreeTraversal, level: Int
  ) throws(LMDBError) {
    let record = TreeRecord(node.data)
    guard record.flags == TreeTraversal.valueFlags(tree.record.flags) else {
      throw damage(tree, number, "the values of a key and their database have different flags")
    }
    if scope != .trees { return }
    var values = TreeTraversal(valuesOf: tree, record, rootLevel: level + 1)
    try visit(&values)
    tree.valueSize = values.keySize
    tree.entries = tree.entries &+ values.entries
  }
}

extension RawPage {
  /// Returns whether the keys of the nodes ascend.
  fileprivate func hasAscendingKeys(_ order: KeyOrder) -> Bool {
    var last = node(0).key
    var lastWord = order.leadingWord(last)
    for index in 1..<max(count, 1) {
      let key = node(index).key
      let word = order.leadingWord(key)
      if word < lastWord || (word == lastWord && order.compare(last, key) >= 0) { return false }
      (last, lastWord) = (key, word)
    }
    return true
  }

  /// Returns whether the packed keys are ascending numbers: native ones of 8 bytes or, if bytes are
  /// compared, big-endian ones of at most 8 bytes.
  fileprivate func hasAscendingNumbers(_ count: Int, _ size: Int, _ order: KeyOrder) -> Bool {
    let isNative = order == .integers
    guard isNative ? size == 8 : order == .bytes && size <= 8 else { return false }
    let mask = UInt64.max >> UInt64(64 - 8 * size)
    // The words that end with a key begin in the header at the earliest.
    var offset = Self.headerSize + size - 8
    var last: UInt64 = 0
    for index in 0..<count {
      let bytes = word(offset)
      let next = (isNative ? bytes : bytes.byteSwapped) & mask
      if index > 0, next <= last { return false }
      last = next
      offset += size
    }
    return true
  }
}
