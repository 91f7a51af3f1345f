internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The tree of a database in one state of the file, searched directly in the map.
///
/// The engine performs a binary search in every page of the descent, and each step waits for memory
/// that could not be prefetched. Here, interpolation search guesses the first step from the keys
/// around the page, which is exact for consecutively assigned numbers and close for others.
///
/// Memory safety: the pages of a read transaction are in the map and do not change while it is
/// open. Every offset is checked against the page and every page against the map. Anything not
/// described by ``RawPage``, and multiple values of a key, are left to the engine.
struct MappedTree {
  /// The result of a search.
  enum Answer {
    case value(UnsafeRawBufferPointer)
    case missing
    /// Only the engine can determine the result.
    case unknown
  }

  /// The address of page 0.
  let pages: UnsafeRawPointer
  let pageSize: Int
  /// The number of pages that are within both the file and the map.
  let pageCount: UInt64
  let root: UInt64

  /// Finds the root of a database. Returns `nil` if the engine has to be used.
  init?(_ database: Database, in transaction: OpaquePointer) {
    guard let bytes = Self.record(of: database.name, in: transaction), let start = bytes.baseAddress
    else { return nil }
    var statistics = MDB_stat()
    var info = MDB_envinfo()
    guard mdb_stat(transaction, database.handle, &statistics) == MDB_SUCCESS,
      mdb_env_info(mdb_txn_env(transaction), &info) == MDB_SUCCESS,
      Int(statistics.ms_psize) <= EngineFormat.systemPageSize
    else { return nil }
    pageSize = Int(statistics.ms_psize)
    let record = TreeRecord(RawPage(bytes: bytes))
    guard record.flags == database.flags, !record.isEmpty else { return nil }
    root = record.root
    // The map may extend beyond the end of the file, where a damaged page may point, and the file
    // beyond the map, if another process has grown it.
    pageCount = UInt64(max(0, min(info.me_last_pgno &+ 1, info.me_mapsize / pageSize)))
    // The record is in a page that contains its own number.
    let address = UInt(bitPattern: start) & ~UInt(bitPattern: pageSize - 1)
    guard let here = UnsafeRawPointer(bitPattern: address) else { return nil }
    let page = RawPage(bytes: UnsafeRawBufferPointer(start: here, count: pageSize))
    guard page.flags == .leaf, page.number < pageCount else { return nil }
    pages = here - Int(page.number) * pageSize
  }

  /// Creates a tree whose pages are not in a map.
  init?(pages: UnsafeRawBufferPointer, pageSize: Int, root: UInt64) {
    guard let start = pages.baseAddress else { return nil }
    self.pages = start
    self.pageSize = pageSize
    self.root = root
    pageCount = UInt64(pages.count / pageSize)
  }

  /// Returns a page, whose number must be below ``pageCount``.
  @inline(__always)
  func page(_ number: UInt64) -> RawPage {
    let start = pages + Int(truncatingIfNeeded: number) &* pageSize
    return RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
  }

  /// Returns the record of a database in the name tree, or `nil` if there isn't one.
  private static func record(
    of name: String, in transaction: OpaquePointer
  ) -> UnsafeRawBufferPointer? {
    var name = name
    return name.withUTF8 { bytes in
      var key = MDB_val(UnsafeRawBufferPointer(bytes))
      var value = MDB_val()
      let code = mdb_get(transaction, EngineFormat.namesHandle, &key, &value)
      guard code == MDB_SUCCESS, value.mv_size == TreeRecord.size else { return nil }
      return UnsafeRawBufferPointer(value)
    }
  }

  /// Returns the value of a key. A key with several values is left to the engine.
  ///
  /// - Complexity: One page per level of the tree; in each of them two or three comparisons if keys
  ///   are evenly distributed, and at worst a few more than a binary search.
  @inline(__always)
  func value<Key: MappedKey>(of sought: Key) -> Answer {
    var sought = sought
    var number = root
    for _ in 0..<TreeTraversal.maximumDepth {
      guard let page = MappedPage(self, number) else { return .unknown }
      if page.isLeaf { return sought.value(in: page, of: self) }
      guard let nodeIndex = sought.branch(in: page), let child = page.child(nodeIndex) else {
        return .unknown
      }
      number = child
    }
    return .unknown
  }
}

/// Constants of the linked engine and its file format.
enum EngineFormat {
  /// The handle of the name tree. Source: `MAIN_DBI` of mdb.c.
  static let namesHandle: MDB_dbi = 1

  static let systemPageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
}
