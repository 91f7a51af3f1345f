internal import ArborFoundation
internal import ArborModel
internal import CArborBits
internal import LMDB

/// Writes the entries of a journal while LMDB commits their transactions.
///
/// ```
/// submit the entry ─────────────── the disk ──────────────┐
/// LMDB commits without a sync, on the same thread ────────┴→ both are done: acknowledge
/// ```
///
/// The write bypasses the system's cache and is on the medium once it is done. Where the system or
/// the file system doesn't support that, ``submit(_:at:)`` returns `false`, and the entry is written
/// and synced before LMDB commits.
///
/// LMDB releases its own lock before the entry is on the medium, but the next transaction begins only
/// after ``end(waits:)``, because the thread still holds the gate; see `Environment.runWrite`. The
/// gate doesn't hold for a process that dies. Therefore, the journal is also locked while an entry is
/// in flight, by an *open file description lock*, which the system keeps until the write of a dead
/// process has ended: it waits for such writes before it closes the process's files. A transaction
/// waits for that lock when it begins. So at most one entry of a journal is in flight, and nothing is
/// acknowledged that follows one.
///
/// `@unchecked Sendable`: only the thread that holds the environment's write lock uses it.
final class JournalFlight: @unchecked Sendable {
  /// The byte of the journal that is locked. The lock doesn't affect reading and writing.
  static let lockedByte: off_t = 1

  let file: JournalFile
  /// Whether an entry has failed to land and no checkpoint has been made since.
  private(set) var hasFailed = false
  /// The descriptor and the context of direct writes, or `nil` if they aren't supported.
  private var direct: (descriptor: Int32, context: UInt64)?
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The size of the write that is in flight, or 0.
  private var size = 0
  private let patience: Double

  /// - Parameters:
  ///   - overlaps: Whether to write entries while LMDB commits, if that is supported.
  ///   - patience: The number of seconds to wait for an entry of another process.
  init(_ file: JournalFile, overlaps: Bool, patience: Double) {
    self.file = file
    self.patience = patience
    direct = overlaps ? Self.open(file) : nil
  }

  private static func open(_ file: JournalFile) -> (Int32, UInt64)? {
    let descriptor = arbor_flight_open(file.path)
    guard descriptor >= 0 else { return nil }
    var context: UInt64 = 0
    guard FileIdentity(descriptor: descriptor) == file.identity, arbor_flight_begin(&context) == 0
    else {
      close(descriptor)
      return nil
    }
    return (descriptor, context)
  }

  deinit {
    giveUp()
    buffer.deallocate()
  }

  /// Waits until no entry is in flight.
  ///
  /// - Throws: `journal` if an entry of another process doesn't land in time.
  func begin() throws(StoreError) {
    land()
    try file.lockFlight(exclusively: true, patience: patience)
    file.unlockFlight()
  }

  /// Begins to write an entry at an offset. Returns `false`, and writes nothing, if that isn't
  /// supported.
  ///
  /// - Throws: `journal` if others hold the lock for too long, although they only look whether it is
  ///   free.
  func submit(_ bytes: [UInt8], at offset: Int) throws(StoreError) -> Bool {
    guard let direct else { return false }
    let padded = JournalEntry.paddedSize(bytes.count)
    if buffer.count < padded {
      buffer.deallocate()
      buffer = .allocate(byteCount: padded, alignment: JournalEntry.alignment)
    }
    buffer.copyBytes(from: bytes)
    UnsafeMutableRawBufferPointer(rebasing: buffer[bytes.count..<padded])
      .initializeMemory(as: UInt8.self, repeating: 0)
    try file.lockFlight(exclusively: true, patience: patience)
    let code = arbor_flight_submit(
      direct.context, direct.descriptor, buffer.baseAddress, padded, off_t(offset))
    guard code == 0 else {
      // For lack of resources, it may succeed the next time.
      let isLasting = errno != EAGAIN
      file.unlockFlight()
      if isLasting { giveUp() }
      return false
    }
    size = padded
    return true
  }

  /// Stops trying to submit entries.
  private func giveUp() {
    guard let direct else { return }
    arbor_flight_end(direct.context)
    close(direct.descriptor)
    self.direct = nil
  }

  /// Whether entries are written while LMDB commits.
  var overlaps: Bool { direct != nil }

  /// Notes that all earlier transactions are on the medium.
  func noteCheckpoint() { hasFailed = false }

  /// Waits until the entry has landed.
  ///
  /// - Parameter waits: Whether to wait. Tests omit it.
  /// - Returns: Whether the entry, if there was one, is on the medium.
  @discardableResult
  func end(waits: Bool = true) -> Bool {
    if waits { land() } else { file.unlockFlight() }
    return !hasFailed
  }

  private func land() {
    guard let direct, size > 0 else { return }
    if arbor_flight_wait(direct.context) != size {
      hasFailed = true
      // For processes that follow before the checkpoint.
      file.demandCheckpoint()
      // Some file systems report only now that they don't support such writes.
      giveUp()
    }
    size = 0
    file.unlockFlight()
  }
}
