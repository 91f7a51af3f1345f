#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The newest root page of a data file, read without mapping the file.
///
/// liblmdb maps a file without looking at its size and dies on a truncated one, so this look comes
/// first. The layout is LMDB 0.9's for 64-bit little-endian machines:
///
/// ```
/// page 0 and 1   ┌ header 16 ┬ magic u32 · version u32 · address u64 · mapsize u64 ┬ free db 48
///                │           │ main db 48 · last page u64 · transaction u64        │
/// database 48    └ pad u32 · flags u16 · depth u16 · branch · leaf · overflow · entries · root
/// ```
struct MetaPages {
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let metaFlag: UInt16 = 0x08
  private static let branchFlag: UInt16 = 0x01
  private static let leafFlag: UInt16 = 0x02
  static let headerSize = 16
  private static let bytesRead = 152
  static let noPage = UInt64.max

  let pageSize: Int
  let lastPage: UInt64
  let transactionID: UInt64
  let freeRoot: UInt64
  let mainRoot: UInt64

  /// Reads and judges the root pages of the file behind `descriptor`, and that the file holds
  /// every page they speak of.
  ///
  /// Another process may commit while this reads, so an odd find counts only if the newest
  /// transaction is still the same afterwards.
  ///
  /// - Returns: nil for an empty file, which LMDB takes as a new one.
  static func check(_ descriptor: Int32) throws(LMDBError) -> MetaPages? {
    while true {
      guard let meta = try read(descriptor) else { return nil }
      do throws(LMDBError) {
        try meta.checkSize(descriptor)
        try meta.checkRoot(meta.freeRoot, descriptor)
        try meta.checkRoot(meta.mainRoot, descriptor)
        return meta
      } catch {
        if try read(descriptor)?.transactionID == meta.transactionID { throw error }
      }
    }
  }

  private static func read(_ descriptor: Int32) throws(LMDBError) -> MetaPages? {
    guard let first = try page(descriptor, at: 0, mayBeEmpty: true) else { return nil }
    let pageSize = try first.pageSize()
    guard let second = try page(descriptor, at: pageSize, mayBeEmpty: false) else {
      throw .fileTooSmall
    }
    guard try second.pageSize() == pageSize else { throw .corrupted }
    let newest = first.transactionID > second.transactionID ? first : second
    return MetaPages(
      pageSize: pageSize, lastPage: newest.word(136), transactionID: newest.transactionID,
      freeRoot: newest.word(80), mainRoot: newest.word(128))
  }

  /// The file may end before its last page only if all pages behind its end are free: LMDB never
  /// writes a page that one transaction both took and freed.
  private func checkSize(_ descriptor: Int32) throws(LMDBError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    guard lastPage < UInt64(Int.max / pageSize) else { throw .corrupted }
    let held = UInt64(Int(status.st_size) / pageSize)
    if held > lastPage { return }
    if held < 2 { throw .fileTooSmall }
    var walk = FreePageWalk(descriptor: descriptor, meta: self, from: held)
    guard try walk.coversTail() else { throw .truncated }
  }

  private func checkRoot(_ number: UInt64, _ descriptor: Int32) throws(LMDBError) {
    if number == Self.noPage { return }
    guard number >= 2, number <= lastPage else { throw .corrupted }
    var bytes = [UInt8](repeating: 0, count: Self.headerSize)
    guard try readFully(descriptor, &bytes, at: Int(number) * pageSize) == bytes.count else {
      throw .truncated
    }
    let page = RawPage(bytes: bytes)
    guard page.word(0) == number else { throw .corrupted }
    let kind = page.half(10) & (Self.branchFlag | Self.leafFlag)
    guard kind == Self.branchFlag || kind == Self.leafFlag else { throw .corrupted }
  }

  private static func page(
    _ descriptor: Int32, at offset: Int, mayBeEmpty: Bool
  ) throws(LMDBError) -> RawPage? {
    var bytes = [UInt8](repeating: 0, count: bytesRead)
    let count = try readFully(descriptor, &bytes, at: offset)
    if count == 0, mayBeEmpty { return nil }
    let page = RawPage(bytes: bytes)
    // What is too short to be judged is called foreign unless it starts like our own.
    guard count >= 20, page.half(10) & metaFlag != 0, page.quad(16) == magic else {
      if count < bytesRead, !mayBeEmpty { throw .fileTooSmall }
      throw bytes.contains { $0 != 0 } ? .invalid : .fileTooSmall
    }
    guard count == bytesRead else { throw .fileTooSmall }
    guard page.quad(20) == version else { throw .versionMismatch }
    return page
  }
}

/// Bytes of a page, read at any alignment. Offsets are the caller's to keep inside.
struct RawPage {
  let bytes: [UInt8]

  func word(_ offset: Int) -> UInt64 { load(offset) }
  func quad(_ offset: Int) -> UInt32 { load(offset) }
  func half(_ offset: Int) -> UInt16 { load(offset) }

  private func load<Number: FixedWidthInteger>(_ offset: Int) -> Number {
    bytes.withUnsafeBytes {
      Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }
}

extension RawPage {
  fileprivate var transactionID: UInt64 { word(144) }

  /// LMDB keeps the page size in the free database's first field.
  fileprivate func pageSize() throws(LMDBError) -> Int {
    let size = Int(quad(40))
    guard size >= 512, size <= 32768, size & (size - 1) == 0 else { throw .foreignPageSize }
    return size
  }
}

/// Reads until `bytes` is full or the file ends; the number of bytes read.
func readFully(
  _ descriptor: Int32, _ bytes: inout [UInt8], at offset: Int
) throws(LMDBError) -> Int {
  var done = 0
  while done < bytes.count {
    let wanted = bytes.count - done
    let count = bytes.withUnsafeMutableBytes { buffer in
      pread(descriptor, buffer.baseAddress.map { $0 + done }, wanted, off_t(offset + done))
    }
    if count == 0 { break }
    if count > 0 {
      done += count
    } else if errno != EINTR {
      throw .lastSystemError
    }
  }
  return done
}
