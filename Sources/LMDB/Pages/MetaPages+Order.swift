/// Whether the root page with the greater number is of the later commit.
///
/// A commit lists the pages that it frees under its own number, and it frees at least the roots
/// that it replaces. So the newest state's last list is its own. Where it is an older one, and the
/// other root page has a later one, a bit of the number has changed, and the last commit would be
/// undone by a writer that believes it; no page would tell, since each of both states is sound.
///
/// A later list of the other root page alone tells nothing: LMDB leaves that behind where the write
/// of a root page has failed. A bit that makes the *newest* number smaller by two leaves just the
/// same, so it undoes the last commit unnoticed.
extension MetaPages {
  /// - Throws: ``LMDBError/damaged(_:)`` where the newest state is that of an older transaction
  ///   than the other one.
  func checkOrder(_ descriptor: Int32) throws(LMDBError) {
    let former = newest.number == first.number ? second : first
    // The first transactions of a file, and of a compacted copy, have nothing to free.
    guard let last = try newest.lastListOfFreePages(descriptor), last < newest.transactionID,
      let formerLast = try former.lastListOfFreePages(descriptor), formerLast > last
    else { return }
    throw .damaged(
      PageFinding(
        page: newest.number, database: nil,
        what: "it belongs to transaction \(newest.transactionID), but its last free list to "
          + "transaction \(last) and that of the other root page to transaction \(formerLast)"))
  }
}

extension MetaPage {
  /// The transaction that has made the last list of free pages: the last key of their tree. Nil
  /// where none exists, or a page is not what it should be, which is for the verification of
  /// that tree to say.
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
