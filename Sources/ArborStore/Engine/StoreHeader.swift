package import ArborFoundation
internal import ArborLocks
package import LMDB

/// Reads and writes the header of an open file.
package enum StoreHeader {
  private static let key = Array(StoreFormat.headerKey.utf8)

  /// Returns the header as of a transaction.
  package static func read(
    _ reader: TransactionReader, path: String? = nil
  ) throws(StoreError) -> HeaderRecord {
    try decode(bytes(reader, path: path), path: path)
  }

  /// Writes the header in the version of this library, together with the digests of the databases,
  /// so it must be the last write of a transaction.
  ///
  /// - Parameter former: The transaction ID in the previous header, in a copy whose transactions
  ///   are numbered differently.
  package static func write(
    _ header: HeaderRecord, in transaction: borrowing WriteTransaction,
    following former: UInt64? = nil
  ) throws(StoreError) {
    var header = header
    _ = try storing(put(&header, transaction, following: former))
  }

  /// - Returns: The written bytes of the header.
  fileprivate static func put(
    _ header: inout HeaderRecord, _ transaction: borrowing WriteTransaction,
    following former: UInt64? = nil
  ) throws(LMDBError) -> [UInt8] {
    header.raiseVersion()
    let bytes = header.encoded()
    try transaction.put(.unnamed, key: key, value: bytes)
    try StoreDigests.keep(transaction, following: former)
    return bytes
  }

  /// Writes the mark, by which tools recognize a store.
  static func writeMark(
    _ header: HeaderRecord, _ arbor: Database, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    try transaction.put(arbor, key: key, value: header.mark)
  }

  fileprivate static func bytes(
    _ reader: TransactionReader, path: String?
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let bytes = try storing(reader.get(.unnamed, key: key)) else {
      throw .notAStore(path: path ?? "", what: "The file has no header.")
    }
    return bytes
  }

  fileprivate static func decode(
    _ bytes: UnsafeRawBufferPointer, path: String?
  ) throws(StoreError) -> HeaderRecord {
    do throws(HeaderRecord.Problem) {
      return try HeaderRecord(bytes)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// The boot ID of a machine whose system doesn't provide one.
  static let unknownBoot = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  /// The boot ID of the machine, which reveals whether the last writer's machine has been
  /// restarted.
  package static let bootID: UUID = {
    let zero = unknownBoot
    #if os(Linux)
      let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return zero }
      defer { close(descriptor) }
      var text = [UInt8](repeating: 0, count: 36)
      let count = text.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, 0)
      }
      return count == 36 ? UUID(uuidString: String(decoding: text, as: UTF8.self)) ?? zero : zero
    #else
      var text = [UInt8](repeating: 0, count: 64)
      var size = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return zero }
      let name = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      return UUID(uuidString: name) ?? zero
    #endif
  }()
}

/// A cache of the header that this process wrote last. Most transactions find the same bytes and
/// need not decode them.
final class WrittenHeader: Sendable {
  private let last = Lock<(bytes: [UInt8], header: HeaderRecord)?>(nil)

  /// Returns the header as of a transaction; see ``StoreHeader/read(_:path:)``.
  func read(
    _ reader: TransactionReader, path: String?
  ) throws(StoreError) -> HeaderRecord {
    let bytes = try StoreHeader.bytes(reader, path: path)
    let known = last.withLock { last in
      last.flatMap { $0.bytes.withUnsafeBytes { $0.elementsEqual(bytes) } ? $0.header : nil }
    }
    if let known { return known }
    return try StoreHeader.decode(bytes, path: path)
  }

  func write(
    _ header: HeaderRecord, in transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    var written = header
    let bytes = try storing(StoreHeader.put(&written, transaction))
    last.withLock { [written] in $0 = (bytes, written) }
  }
}

extension StoreError {
  init(_ problem: HeaderRecord.Problem, path: String?) {
    switch problem {
    case .foreign:
      self = .notAStore(path: path ?? "", what: "The file's header belongs to another program.")
    case .otherByteOrder:
      self = .notAStore(
        path: path ?? "",
        what: "The file was written on a machine with a different byte order. Export the data "
          + "there, then import it here.")
    case .tooNew(let major, let minor): self = .formatTooNew(major: Int(major), minor: Int(minor))
    case .tooOld(let major, let minor):
      self = .notAStore(
        path: path ?? "",
        what: "The file has format \(major).\(minor), which predates the first release. Only the "
          + "program that wrote the file can read it.")
    case .damaged: self = .corrupted(what: "The header is damaged.")
    }
  }
}
