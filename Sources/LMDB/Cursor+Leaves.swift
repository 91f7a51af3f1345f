internal import CLMDB

/// Walking over whole databases, a page of entries at a time.
///
/// Asking the engine for each entry costs as much as all that a scan does with it. The entries of
/// a page lie in it one after another, so the rest of a page is read from the page itself, in the
/// form that ``RawPage`` knows and ``PageVerifier`` checks, and the cursor follows to the last of
/// them.
///
/// Sound because a page of a read transaction lies in the map, at a multiple of its size, and does
/// not change while the transaction is open. Every offset is checked against the page, and
/// whatever is not an entry with its value beside it is left to the engine.
extension Cursor {
  /// The entries after the present one, as many as there is room for; fewer at the end.
  ///
  /// Costs a third of what walking entry by entry does.
  ///
  /// - Parameter entries: Uninitialised room; the first ones are initialised.
  /// - Returns: How many entries there are.
  package func next(
    into entries: UnsafeMutableBufferPointer<Entry>
  ) throws(LMDBError) -> Int {
    // Few entries are not worth a page.
    let pageSize = entries.count < 16 ? nil : try readablePageSize()
    var count = 0
    while count < entries.count, let entry = try move(MDB_NEXT) {
      entries.initializeElement(at: count, to: entry)
      count += 1
      guard let pageSize, let page = Self.leaf(of: entry, pageSize) else { continue }
      let first = count
      Self.copy(behind: entry, in: page, to: entries, &count)
      if count > first { try stand(on: entries[count - 1]) }
    }
    return count
  }

  /// The size of the pages that the entries of this cursor may be read from; nil where they are not
  /// in the map, or in a form that only the engine knows.
  private func readablePageSize() throws(LMDBError) -> Int? {
    guard EngineFormat.isKnown, !hasDuplicates, !slotPointer.pointee.isWriter else { return nil }
    var statistics = MDB_stat()
    try check(mdb_stat(mdb_cursor_txn(handle), mdb_cursor_dbi(handle), &statistics))
    let size = Int(statistics.ms_psize)
    // The map begins at a multiple of the system's page size.
    return size <= EngineFormat.systemPageSize ? size : nil
  }

  /// The page that an entry lies in. Its memory is on its way to the processor: a page's entries
  /// lie from its end to its beginning, which the processor does not foresee.
  @inline(__always)
  private static func leaf(of entry: Entry, _ size: Int) -> RawPage? {
    // A long value lies elsewhere; the key never does.
    let start = UInt(bitPattern: entry.key.baseAddress) & ~UInt(bitPattern: size - 1)
    let page = RawPage(
      bytes: UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: size))
    guard page.flags == .leaf, page.lower >= RawPage.headerSize, page.lower <= page.upper,
      page.upper <= size
    else { return nil }
    arbor_prefetch_page(UnsafeRawPointer(bitPattern: start))
    return page
  }

  /// Copies the entries behind one up to the end of its page, or up to one that only the engine can
  /// read.
  @inline(__always)
  private static func copy(
    behind entry: Entry, in page: RawPage, to entries: UnsafeMutableBufferPointer<Entry>,
    _ count: inout Int
  ) {
    guard let start = page.bytes.baseAddress, let key = entry.key.baseAddress else { return }
    let offset = key - start - RawPage.nodeHeaderSize
    guard var place = (0..<page.count).first(where: { page.nodeOffset($0) == offset }) else {
      return
    }
    place += 1
    while place < page.count, count < entries.count {
      let node = page.node(place)
      guard node.offset + RawPage.nodeHeaderSize <= page.size, node.flags.isEmpty,
        node.dataOffset + node.dataSize <= page.size
      else { return }
      entries.initializeElement(
        at: count, to: Entry(key: node.key, value: page.part(node.dataOffset, node.dataSize)))
      count += 1
      place += 1
    }
  }

  /// Moves to an entry of the page that the cursor is on.
  private func stand(on entry: Entry) throws(LMDBError) {
    var key = MDB_val(entry.key)
    var value = MDB_val()
    try check(mdb_cursor_get(handle, &key, &value, MDB_SET))
  }
}
