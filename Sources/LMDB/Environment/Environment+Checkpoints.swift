internal import ArborLocks
internal import CArborBits
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The root page of a state, which can be written back after a power failure.
///
/// The state is complete on the medium if ``Environment/flush()`` returned after its commit, and
/// stays so as long as a ``SnapshotPin`` of it or of an earlier state exists.
package struct RootImage: Sendable, Hashable {
  /// The size of the page header and the root record, in bytes.
  package static let size = 152

  package let bytes: [UInt8]
  package let transactionID: UInt64
  fileprivate let pageSize: Int

  /// Creates an image from the bytes of a root page. Returns `nil` for any other bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, let page = Self.page(bytes),
      page.complaint(as: page.number) == nil
    else { return nil }
    self.bytes = bytes
    transactionID = page.transactionID
    pageSize = page.pageSize
  }

  private static func page(_ bytes: [UInt8]) -> MetaPage? {
    bytes.withUnsafeBytes { try? MetaPage(RawPage(bytes: $0)) }
  }

  var page: MetaPage? { Self.page(bytes) }

  /// Returns the number of the page to which LMDB writes the root of a transaction.
  fileprivate static func slot(of transaction: UInt64) -> UInt64 { transaction & 1 }

  /// Returns a copy of the root page with another transaction number, and with the page number of
  /// that transaction's slot.
  fileprivate func renumbered(_ transaction: UInt64) -> [UInt8] {
    var copy = bytes
    for (offset, number) in [
      (0, Self.slot(of: transaction)), (MetaPage.transactionOffset, transaction),
    ] {
      withUnsafeBytes(of: number.littleEndian) {
        copy.replaceSubrange(offset..<offset + 8, with: $0)
      }
    }
    return copy
  }
}

/// A reader that only keeps the pages of its state from being reused. It reads nothing, so it does
/// not prevent the map from moving or the file from closing.
package struct SnapshotPin: Sendable, Hashable {
  package let transactionID: UInt64
  fileprivate let number: UInt64
}

extension EnvironmentState {
  /// Ends all pins, because LMDB's environment is about to close.
  mutating func endPins() {
    for transaction in pins.values { mdb_txn_abort(transaction) }
    pins.removeAll()
  }
}

extension Environment {
  /// Pins the newest state. The pin exists until ``release(_:)`` or until the file is closed or
  /// compacted.
  ///
  /// - Throws: `readersFull` and other codes of LMDB.
  package func pinNewest() throws(LMDBError) -> SnapshotPin {
    if birth != ForkGuard.generation { throw .forkedProcess }
    return try state.withLock { (state) throws(LMDBError) -> SnapshotPin in
      try state.checkOpen()
      var transaction: OpaquePointer?
      try check(mdb_txn_begin(state.handle, nil, UInt32(MDB_RDONLY), &transaction))
      guard let transaction else { throw .badTransaction }
      state.pinCount += 1
      state.pins[state.pinCount] = transaction
      return SnapshotPin(
        transactionID: UInt64(mdb_txn_id(transaction)), number: state.pinCount)
    }
  }

  /// Ends a pin.
  package func release(_ pin: SnapshotPin) {
    guard birth == ForkGuard.generation else { return }
    state.withLock { state in
      if let transaction = state.pins.removeValue(forKey: pin.number) { mdb_txn_abort(transaction) }
    }
  }

  /// Waits until everything that was written to the file before the call is on the medium. Writers
  /// continue meanwhile.
  package func flush() throws(LMDBError) {
    guard arbor_flush(file.descriptor) == 0 else { throw .lastSystemError }
  }

  /// Returns the root page of the newest commit.
  ///
  /// - Parameter transaction: The writer's transaction, which keeps other commits from replacing
  ///   the root page.
  package func newestRoot(
    before transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> RootImage {
    let number = transaction.id - 1
    let offset = Int(RootImage.slot(of: number)) * (try info().pageSize)
    var bytes = [UInt8](repeating: 0, count: RootImage.size)
    var failure: LMDBError?
    bytes.withUnsafeMutableBytes { buffer in
      do throws(LMDBError) { _ = try readFully(file.descriptor, buffer, at: offset) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    guard let image = RootImage(bytes), image.transactionID == number else { throw .fileReplaced }
    return image
  }

  /// Makes the state of a root page the newest one of a file, which no process may have open.
  ///
  /// Both root pages are written, the other one with the preceding transaction number, so that
  /// later transactions get the numbers that they would have had. Can be repeated after an
  /// interruption.
  package static func restore(_ image: RootImage, at path: String) throws(LMDBError) {
    let descriptor = try DataFile.createDescriptor(path, mustBeNew: false)
    defer { DataFile.closeDescriptor(descriptor) }
    for transaction in [image.transactionID, image.transactionID &- 1] {
      let bytes = image.renumbered(transaction)
      let offset = Int(RootImage.slot(of: transaction)) * image.pageSize
      let count = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      guard count == bytes.count else { throw count < 0 ? .lastSystemError : .diskFull }
    }
    guard arbor_flush(descriptor) == 0 else { throw .lastSystemError }
  }
}
