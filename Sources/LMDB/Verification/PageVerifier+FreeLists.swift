/// Free lists: for each transaction, a count followed by as many page numbers in descending order.
/// The space after them may contain anything.
extension PageVerifier {
  /// The number of bytes of a large list to read at once, a multiple of the size of a number.
  private static let pieceSize = 1 << 16

  /// Reads a list that is stored in its leaf.
  mutating func readFreeList(
    of node: RawNode, _ number: UInt64, _ tree: TreeTraversal
  ) throws(LMDBError) {
    try checkTransaction(node, number, tree)
    let list = node.data
    guard list.size >= 8, list.size % 8 == 0 else {
      throw listSizeDamage(list.size, number, tree)
    }
    let count = try count(list.word(0), size: list.size, number, tree)
    var last = UInt64.max
    for index in 0..<count { try free(list.word(8 + 8 * index), &last, number, tree) }
  }

  /// Reads a list that is stored in overflow pages.
  mutating func readFreeList(
    ofRun first: UInt64, size: Int, _ number: UInt64, _ tree: TreeTraversal
  ) throws(LMDBError) {
    guard size >= 8, size % 8 == 0 else { throw listSizeDamage(size, number, tree) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
    defer { buffer.deallocate() }
    let start = Int(first) * pageSize + RawPage.headerSize
    var remaining = 0
    var last = UInt64.max
    var offset = 0
    repeat {
      let piece = UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<min(Self.pieceSize, size - offset)])
      guard try readFully(descriptor, piece, at: start + offset) == piece.count else {
        throw damage(tree, first, "it is past the end of the file")
      }
      let list = RawPage(bytes: UnsafeRawBufferPointer(piece))
      var index = 0
      if offset == 0 {
        remaining = try count(list.word(0), size: size, number, tree)
        index = 8
      }
      while index < piece.count, remaining > 0 {
        try free(list.word(index), &last, number, tree)
        index += 8
        remaining -= 1
      }
      offset += piece.count
    } while remaining > 0 && offset < size
  }

  private func listSizeDamage(_ size: Int, _ number: UInt64, _ tree: TreeTraversal) -> LMDBError {
    damage(tree, number, "a list has \(size) bytes, not a positive multiple of 8")
  }

  /// Checks that the transaction of a list has been committed, because other transactions cannot
  /// have freed pages.
  func checkTransaction(
    _ node: RawNode, _ number: UInt64, _ tree: TreeTraversal
  ) throws(LMDBError) {
    let id = RawPage(bytes: node.key).word(0)
    guard id > 0, id <= meta.transactionID else {
      throw damage(
        tree, number,
        "a list belongs to transaction \(id), outside the range 1 to \(meta.transactionID)")
    }
  }

  private func count(
    _ count: UInt64, size: Int, _ number: UInt64, _ tree: TreeTraversal
  ) throws(LMDBError) -> Int {
    guard count <= UInt64(size / 8 - 1) else {
      throw damage(
        tree, number,
        "the page count of a list of \(size) bytes is \(count), more than \(size / 8 - 1)")
    }
    return Int(count)
  }

  private mutating func free(
    _ page: UInt64, _ last: inout UInt64, _ number: UInt64, _ tree: TreeTraversal
  ) throws(LMDBError) {
    guard page < last else { throw damage(tree, number, "a list is not in descending order") }
    last = page
    try claim(page, tree)
  }
}
