#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The two root pages of a data file, read without mapping it.
///
/// liblmdb maps a file without checking its size and crashes on a truncated one, so this check
/// comes first. The layout is that of LMDB 0.9 on 64-bit little-endian machines:
///
/// ```
/// page 0 and 1   ┌ header 16 ┬ magic u32 · version u32 · address u64 · mapsize u64 ┬ free db 48
///                │           │ main db 48 · last page u64 · transaction u64        │
/// database 48    └ pad u32 · flags u16 · depth u16 · branch · leaf · overflow · entries · root
/// ```
struct MetaPages: Equatable {
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let bytesRead = 152

  let first: MetaPage
  let second: MetaPage

  var pageSize: Int { first.pageSize }
  /// The root page of the last commit.
  var newest: MetaPage { first.transactionID > second.transactionID ? first : second }

  /// Returns the root page of a transaction, if it still exists.
  func page(of transaction: UInt64) -> MetaPage? {
    newest.transactionID == transaction
      ? newest : [first, second].first { $0.transactionID == transaction }
  }

  /// Reads and validates the root pages of an open file, and checks that the file contains all
  /// pages that they claim.
  ///
  /// Another process may commit during the read, so a problem counts only if the root pages are
  /// unchanged afterwards.
  ///
  /// - Returns: `nil` for an empty file, which LMDB treats as new.
  static func check(_ descriptor: Int32) throws(LMDBError) -> MetaPages? {
    while true {
      guard let meta = try read(descriptor) else { return nil }
      do throws(LMDBError) {
        try meta.validate()
        try meta.newest.checkSize(descriptor)
        try meta.newest.checkRoot(meta.newest.free.root, descriptor)
        try meta.newest.checkRoot(meta.newest.main.root, descriptor)
        try meta.checkOrder(descriptor)
        try PageVerifier.verifyNames(descriptor, meta.newest)
        return meta
      } catch {
        if try read(descriptor) == meta { throw error }
      }
    }
  }

  static func read(_ descriptor: Int32) throws(LMDBError) -> MetaPages? {
    do throws(LMDBError) {
      guard let first = try page(descriptor, at: 0, mayBeEmpty: true) else { return nil }
      guard let second = try page(descriptor, at: first.pageSize, mayBeEmpty: false) else {
        throw .fileTooSmall
      }
      guard second.pageSize == first.pageSize else { throw .corrupted }
      return MetaPages(first: first, second: second)
    } catch {
      throw try damage(descriptor, behind: error) ?? error
    }
  }

  /// Determines the damage if a root page cannot be read: a file with one valid root page, or with
  /// other LMDB pages, is neither another program's file nor an interrupted creation.
  ///
  /// - Returns: `nil` if there is no further information.
  private static func damage(
    _ descriptor: Int32, behind error: LMDBError
  ) throws(LMDBError) -> LMDBError? {
    switch error {
    case .invalid, .fileTooSmall, .foreignFormat, .foreignPageSize, .corrupted: break
    default: return nil
    }
    let size = try DataFile.size(ofFile: descriptor)
    let sound: [MetaPage]
    // Both root pages have another format.
    do throws(LMDBError) { sound = try soundPages(descriptor) } catch { return nil }
    guard let other = sound.first else {
      guard DamagedFile.pageSize(descriptor, size) != nil else { return nil }
      return .damaged(
        PageFinding(page: nil, database: nil, what: "both root pages are damaged"))
    }
    guard size >= 2 * other.pageSize else { return nil }
    return .damaged(
      PageFinding(page: 1 - other.number, database: nil, what: "the root page is damaged"))
  }

  /// Sets the transaction numbers of the root pages of a file, which must not be open, to numbers
  /// above `last`.
  static func raise(_ descriptor: Int32, above last: UInt64) throws(LMDBError) {
    guard let meta = try read(descriptor) else { throw .fileTooSmall }
    // Page 0 belongs to an even transaction. It keeps its position, and so does the newest state.
    let even = (last &+ 2) & ~1
    let isEvenNewest = meta.first.transactionID > meta.second.transactionID
    for (index, number) in [even, isEvenNewest ? even - 1 : even + 1].enumerated() {
      let offset = index * meta.pageSize + MetaPage.transactionOffset
      let count = withUnsafeBytes(of: number.littleEndian) {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      guard count == 8 else { throw count < 0 ? .lastSystemError : .diskFull }
    }
  }

  /// Returns the root pages that are valid by themselves, newest first, regardless of the other one
  /// and of the pages that they refer to.
  ///
  /// - Throws: ``LMDBError/foreignFormat(version:)`` if no root page is valid and the first one has
  ///   another format.
  static func soundPages(_ descriptor: Int32) throws(LMDBError) -> [MetaPage] {
    var pages: [MetaPage] = []
    var foreign: LMDBError?
    do throws(LMDBError) {
      if let first = try page(descriptor, at: 0, mayBeEmpty: true), first.complaint(as: 0) == nil {
        pages.append(first)
      }
    } catch {
      if case .foreignFormat = error { foreign = error }
    }
    var pageSize = 512
    while pageSize <= 32768 {
      let second = try? page(descriptor, at: pageSize, mayBeEmpty: true)
      if let second, second.pageSize == pageSize, second.complaint(as: 1) == nil {
        // Its position confirms its page size, which is not known for the first page.
        pages.removeAll { $0.pageSize != pageSize }
        pages.append(second)
        break
      }
      pageSize *= 2
    }
    if pages.isEmpty, let foreign { throw foreign }
    return pages.sorted { $0.transactionID > $1.transactionID }
  }

  private static func page(
    _ descriptor: Int32, at offset: Int, mayBeEmpty: Bool
  ) throws(LMDBError) -> MetaPage? {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesRead, alignment: 16)
    defer { bytes.deallocate() }
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    let count = try readFully(descriptor, bytes, at: offset)
    if count == 0, mayBeEmpty { return nil }
    let page = RawPage(bytes: UnsafeRawBufferPointer(bytes))
    // LMDB 1.0 has eight more bytes in its page header.
    if count >= 32, page.quad(24) == magic { throw .foreignFormat(version: page.quad(28)) }
    // A file that is too short to be validated is reported as foreign unless it begins like an LMDB
    // file.
    guard count >= 20, page.flags.contains(.meta), page.quad(16) == magic else {
      if count < bytesRead, !mayBeEmpty { throw .fileTooSmall }
      throw bytes.contains { $0 != 0 } ? .invalid : .fileTooSmall
    }
    guard count == bytesRead else { throw .fileTooSmall }
    guard page.quad(20) == version else { throw .foreignFormat(version: page.quad(20)) }
    return try MetaPage(page)
  }
}

// MARK: - Validating

extension MetaPages {
  /// Throws ``LMDBError/damaged(_:)`` if a root page contains values that LMDB never writes, or the
  /// two are inconsistent.
  private func validate() throws(LMDBError) {
    for (number, page) in [first, second].enumerated() {
      if let what = page.complaint(as: UInt64(number)) {
        throw .damaged(PageFinding(page: UInt64(number), database: nil, what: what))
      }
    }
    // A transaction with an even number writes page 0, and the other page belongs to the previous
    // one. In a new file, both are zero.
    let (even, odd) = (first.transactionID, second.transactionID)
    let isNew = even == 0 && odd == 0
    guard isNew || (even % 2 == 0 && odd % 2 == 1 && (even &+ 1 == odd || odd &+ 1 == even)) else {
      throw .damaged(
        PageFinding(
          page: nil, database: nil,
          what: "the root pages belong to transactions \(even) and \(odd), which are not "
            + "consecutive"))
    }
  }
}

/// A root page.
struct MetaPage: Equatable {
  let number: UInt64
  let flags: UInt16
  let pageSize: Int
  let address: UInt64
  let mapSize: UInt64
  let free: TreeRecord
  let main: TreeRecord
  let lastPage: UInt64
  let transactionID: UInt64

  /// The offset of the transaction number in a root page.
  static let transactionOffset = 144

  init(_ page: RawPage) throws(LMDBError) {
    number = page.number
    flags = page.flags.rawValue
    address = page.word(24)
    mapSize = page.word(32)
    free = TreeRecord(page, at: 40)
    main = TreeRecord(page, at: 88)
    lastPage = page.word(136)
    transactionID = page.word(Self.transactionOffset)
    // LMDB stores the page size in the free database's first field.
    pageSize = Int(free.pad)
    guard pageSize >= 512, pageSize <= 32768, pageSize & (pageSize - 1) == 0 else {
      throw .foreignPageSize
    }
  }

  /// The flags of the free database, in addition to ``noFolder``.
  private static let freeFlags: DatabaseFlags = .integerKey
  /// LMDB's environment flag `MDB_NOSUBDIR`, which LMDB also stores in the flags of the free
  /// database.
  private static let noFolder = DatabaseFlags(rawValue: 0x4000)
  /// The maximum size of a map in bytes. No machine can map more.
  static let largestMap: UInt64 = 1 << 47

  /// Returns a description of the damage to the page itself, or `nil` if there is none.
  func complaint(as pageNumber: UInt64) -> String? {
    if number != pageNumber { return "it has the page number \(number)" }
    if flags != PageFlags.meta.rawValue { return "it is not a root page" }
    if address != 0 { return "it requests a fixed map address" }
    if free.flags.subtracting(Self.noFolder) != Self.freeFlags {
      return "the environment has unknown flags"
    }
    if main.flags != [] || main.pad != 0 { return "the main database has unexpected flags" }
    if lastPage < 1 { return "it has no pages" }
    if mapSize > Self.largestMap {
      return "its map has \(mapSize) bytes, more than the maximum of \(Self.largestMap)"
    }
    if lastPage >= mapSize / UInt64(pageSize) {
      return "its map has \(mapSize) bytes, too few for page \(lastPage) of \(pageSize) bytes"
    }
    return nil
  }

  /// Checks the size of the file. It may end before its last page only if all pages after its end
  /// are free: LMDB never writes a page that a transaction both allocated and freed.
  fileprivate func checkSize(_ descriptor: Int32) throws(LMDBError) {
    let held = try heldPages(descriptor)
    if held > lastPage { return }
    if held < 2 { throw .fileTooSmall }
    do throws(LMDBError) {
      var verifier = try PageVerifier(descriptor: descriptor, meta: self)
      guard try verifier.listsAsFree(from: held) else { throw .truncated }
    } catch {
      if case .damaged = error { throw .truncated }
      throw error
    }
  }

  /// Returns the number of complete pages in the file.
  func heldPages(_ descriptor: Int32) throws(LMDBError) -> UInt64 {
    UInt64(try DataFile.size(ofFile: descriptor) / pageSize)
  }

  fileprivate func checkRoot(_ number: UInt64, _ descriptor: Int32) throws(LMDBError) {
    if number == TreeRecord.noPage { return }
    guard number >= 2, number <= lastPage else { throw .corrupted }
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: RawPage.headerSize, alignment: 16)
    defer { header.deallocate() }
    guard try readFully(descriptor, header, at: Int(number) * pageSize) == header.count else {
      throw .truncated
    }
    let page = RawPage(bytes: UnsafeRawBufferPointer(header))
    guard page.number == number, page.flags == .branch || page.flags == .leaf else {
      throw .corrupted
    }
  }
}

/// Reads until `bytes` is full, the file ends, or a read fails. Returns the number of bytes read.
func readAvailable(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int
) -> Int {
  var done = 0
  try? read(descriptor, bytes, at: offset, &done)
  return done
}

/// Reads until `bytes` is full or the file ends. Returns the number of bytes read.
func readFully(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int
) throws(LMDBError) -> Int {
  var done = 0
  try read(descriptor, bytes, at: offset, &done)
  return done
}

private func read(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int, _ done: inout Int
) throws(LMDBError) {
  while done < bytes.count {
    let count = pread(
      descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
    if count == 0 { return }
    if count > 0 {
      done += count
    } else if errno != EINTR {
      throw .lastSystemError
    }
  }
}
