internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The tree of a database in one state of the file, searched where it lies in the map.
///
/// The engine halves the entries of every page on the way down, and each step waits for memory that
/// nobody could ask for ahead. Here the first step is guessed from the keys around the page, which
/// among numbers given in turn is right at once and among others near.
///
/// Sound because the pages of a read transaction lie in the map and do not change while it is open.
/// Every offset is checked against the page and every page against the map; whatever has another
/// form than ``RawPage`` knows, and several values of a key, is left to the engine.
struct MappedTree {
  /// The answer of a search.
  enum Answer {
    case value(UnsafeRawBufferPointer)
    case missing
    /// Only the engine can tell.
    case unknown
  }

  /// Page 0.
  let pages: UnsafeRawPointer
  let pageSize: Int
  /// Pages below lie in the file and in the map.
  let pageCount: UInt64
  let root: UInt64

  /// The root of a database; nil where the engine has to be asked.
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
    // The map goes on behind the file's end, where a damaged page may lead, and the file behind the
    // map, where another process has made it larger.
    pageCount = UInt64(max(0, min(info.me_last_pgno &+ 1, info.me_mapsize / pageSize)))
    // The record lies in a page that says its own number.
    let address = UInt(bitPattern: start) & ~UInt(bitPattern: pageSize - 1)
    guard let here = UnsafeRawPointer(bitPattern: address) else { return nil }
    let page = RawPage(bytes: UnsafeRawBufferPointer(start: here, count: pageSize))
    guard page.flags == .leaf, page.number < pageCount else { return nil }
    pages = here - Int(page.number) * pageSize
  }

  /// A tree in pages that lie elsewhere than in a map.
  init?(pages: UnsafeRawBufferPointer, pageSize: Int, root: UInt64) {
    guard let start = pages.baseAddress else { return nil }
    self.pages = start
    self.pageSize = pageSize
    self.root = root
    pageCount = UInt64(pages.count / pageSize)
  }

  /// A page; the number is below ``pageCount``.
  @inline(__always)
  func page(_ number: UInt64) -> RawPage {
    let start = pages + Int(truncatingIfNeeded: number) &* pageSize
    return RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
  }

  /// What the database of names says about a database.
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

  /// The value of a key. Where it has several, the engine knows.
  ///
  /// - Complexity: A page for each level of the tree; in each of them two or three entries where
  ///   keys are spread evenly, at worst as many as halving takes and a few more.
  @inline(__always)
  func value<Key: MappedKey>(of sought: Key) -> Answer {
    var sought = sought
    var number = root
    for _ in 0..<TreeTraversal.mostLevels {
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

/// What is known about the engine that is linked, and of the form of its files.
enum EngineFormat {
  /// The handle of the database that holds the names of the others. Source: `MAIN_DBI` of mdb.c.
  static let namesHandle: MDB_dbi = 1

  static let systemPageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
}
