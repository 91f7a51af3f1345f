/// Checks that the root page with the greater transaction number belongs to the later commit.
///
/// A commit lists the pages that it frees under its own number, and it frees at least the roots
/// that it replaces. The last free list of the newest state is therefore its own. If it is an older
/// one, and the other root page has a later one, a bit of the transaction number has flipped, and a
/// writer that trusts it would undo the last commit. Verifying pages would not reveal that, because
/// both states are intact.
///
/// A later list of the other root page alone is not conclusive, because LMDB also leaves one behind
/// if writing a root page fails. A flipped bit that decreases the *newest* number by two produces
/// exactly this case, so it undoes the last commit without being detected.
extension MetaPages {
  /// - Throws: ``LMDBError/damaged(_:)`` if the root page with the greater transaction number
  ///   belongs to the earlier commit.
  func checkOrder(_ descriptor: Int32) throws(LMDBError) {
    let former = newest.number == first.number ? second : first
    // The first transactions of a file, and of a compacted copy, free no pages.
    guard let last = try newest.lastListOfFreePages(descriptor), last < newest.transactionID,
      let formerLast = try former.lastListOfFreePages(descriptor), formerLast > last
    else { return }
    throw .damaged(
      PageFinding(
        page: newest.number, database: nil,
        what: "it belongs to transaction \(newest.transactionID), but its last free list belongs "
          + "to transaction \(last), and that of the other root page to transaction \(formerLast)"))
  }
}

extension MetaPage {
  /// Returns the transaction number of the last free list: the last key of the free tree. Returns
  /// `nil` if there isn't one or a page is invalid, which is left to the verification of that tree.
  fileprivate func lastListOfFreePages(_ descriptor: Int32) throws(LMDBError) -> UInt64? {
    if free.isEmpty { return nil }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { bytes.deallocate() }
    var number = free.root
    for level in 1...max(1, free.depth) {
      guard number >= 2, number <= lastPage,
        try readFully(descriptor, bytes, at: Int(number) * pageSize) == pageSize
      else { return nil }
      let page = RawPage(bytes: UnsafeRawBufferPointer(bytes))
      guard page.number == number, page.lower > RawPage.headerSize, page.lower <= pageSize else {
        return nil
      }
      let node = page.node(page.count - 1)
      let end = node.offset + RawPage.nodeHeaderSize
      guard node.offset >= page.lower, end <= pageSize else { return nil }
      if page.flags == .leaf, level == free.depth {
        guard node.keySize == 8, end + 8 <= pageSize else { return nil }
        return page.word(end)
      }
      guard page.flags == .branch else { return nil }
      number = node.child
    }
    return nil
  }
}
