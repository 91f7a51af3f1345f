internal import ArborLocks
internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The gate that every writer passes before LMDB's own lock, and holds until its transaction ends.
///
/// LMDB's lock has no timeout: a process that is stopped in a transaction, by a debugger or in a
/// frozen container, holds all other writers forever. The gate is a mutex that can be waited for
/// with a timeout, that names its holder, and that the system releases if its holder dies.
///
/// It is in the last bytes of LMDB's lock file:
///
/// ```
///  0              64           128                                    64·n         64·n + 60
/// ┌──────────────┬────────────┬─────────────┬─────────────┬ … ┬───────┬────────────┐
/// │LMDB's header │LMDB's lock │reader slot 1│reader slot 2│   │slot m │gate        │
/// └──────────────┴────────────┴─────────────┴─────────────┴ … ┴───────┴────────────┘
/// ```
///
/// LMDB derives the number of slots from the size of the file and ignores the rest of a slot, so
/// other programs that use LMDB can open the file. The gate moves and disappears together with the
/// lock file, and needs neither a name nor a descriptor of its own.
///
/// `@unchecked Sendable`: the mapped memory is only accessed by the atomic functions of
/// `arbor_gate.h`.
final class WriterGate: @unchecked Sendable {
  /// The position of the gate in the lock file, which is the end of the reader slots.
  let offset: Int
  private let page: UnsafeMutableRawPointer
  private let pageSize: Int
  private let gate: UnsafeMutableRawPointer
  /// This process. A forked child can't use the gate.
  private let processID = UInt32(bitPattern: getpid())
  /// The thread of this process that holds the gate, or 0.
  private let holder = Atomic<UInt>(0)

  private static let slotSize = 64
  /// The size of LMDB's part of the lock file in front of the reader slots.
  private static let headerSize = 128

  /// Maps the gate of a lock file, which is created at the end of the file if there isn't one.
  /// Returns `nil` if the system doesn't support it.
  ///
  /// - Parameters:
  ///   - descriptor: A writable descriptor of the lock file, which is not needed afterwards.
  ///   - readers: The number of reader slots of a new lock file.
  static func prepare(_ descriptor: Int32, readers: Int) throws(LMDBError) -> WriterGate? {
    #if canImport(Glibc)
      // Only one process at a time creates or prepares the gate. LMDB locks other bytes.
      guard arbor_lock_range(descriptor, 1, lockedByte, 1, 1) == 0 else { return nil }
      defer { _ = arbor_lock_range(descriptor, 2, lockedByte, 1, 0) }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
      var size = Int(status.st_size)
      if size == 0 { size = headerSize + slotSize * readers }
      let offset = size / slotSize * slotSize
      let end = offset + Int(ARBOR_GATE_SIZE)
      if Int(status.st_size) < end, ftruncate(descriptor, off_t(end)) != 0 {
        throw .lastSystemError
      }
      guard let gate = WriterGate(descriptor, offset: offset) else { return nil }
      return arbor_gate_prepare(gate.gate) == 0 ? gate : nil
    #else
      return nil
    #endif
  }

  /// The byte of the lock file that is locked while the gate is prepared. No process ID, whose byte
  /// LMDB locks, is this large.
  private static let lockedByte: off_t = 1 << 40

  private init?(_ descriptor: Int32, offset: Int) {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    let start = offset / size * size
    guard
      let page = mmap(
        nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(start)),
      page != MAP_FAILED
    else { return nil }
    self.page = page
    self.offset = offset
    pageSize = size
    gate = page + (offset - start)
  }

  deinit { munmap(page, pageSize) }

  /// Returns whether the gate follows the reader slots of LMDB. Otherwise another program has
  /// created the lock file in the meantime.
  func follows(slots: Int) -> Bool { offset == Self.headerSize + Self.slotSize * slots }

  /// Whether this thread holds the gate.
  var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == ThreadID.current.number }

  /// The process that holds the gate, or `nil` if it has just been released.
  var writer: BusyWriter? {
    #if canImport(Glibc)
      var since: UInt32 = 0
      let process = arbor_gate_holder(gate, &since)
      return process == 0 ? nil : BusyWriter(processID: Int32(bitPattern: process), since: since)
    #else
      return nil
    #endif
  }

  /// Enters the gate. Returns `false` if another thread or process holds it for longer than the
  /// given time.
  func enter(within milliseconds: UInt32) throws(LMDBError) -> Bool {
    #if canImport(Glibc)
      let code = arbor_gate_enter(gate, milliseconds, processID)
      if code == ETIMEDOUT { return false }
      guard code == 0 else { throw LMDBError(code: code) }
    #endif
    holder.store(ThreadID.current.number, ordering: .relaxed)
    return true
  }

  /// Leaves the gate. Called by the thread that entered it.
  func leave() {
    holder.store(0, ordering: .relaxed)
    #if canImport(Glibc)
      arbor_gate_leave(gate)
    #endif
  }
}

/// A process that keeps others from writing.
@usableFromInline
package struct BusyWriter: Sendable, Hashable {
  package let processID: Int32
  /// The time at which its transaction began, in seconds since 1970.
  package let since: UInt32

  package init(processID: Int32, since: UInt32) {
    self.processID = processID
    self.since = since
  }
}
