/// The state of an environment that is shared by the threads of a process. Always accessed under
/// its lock.
///
/// Growing the map moves it, which is only allowed while no transaction of this process is alive:
/// `gateOwner` is the thread that has closed the gate for that. A closed gate blocks new readers
/// and waits until `activeReaders` is zero.
struct EnvironmentState {
  /// LMDB's environment, or `nil` once closed.
  var handle: OpaquePointer?
  /// The reason why no transaction can begin anymore, or `nil` if there is none.
  var failure: LMDBError?

  /// The list of unused slots, most recently used first.
  var freeSlots: SlotReference?
  /// The list of all slots ever created.
  var allSlots: SlotReference?
  var activeReaders = 0
  /// LMDB's transactions of the pins, by the number of the pin.
  var pins: [UInt64: OpaquePointer] = [:]
  /// The number that was assigned to the last pin.
  var pinCount: UInt64 = 0
  /// The number of readers whose thread waits for the writer, so that they cannot end.
  var blockedReaders = 0

  /// The gate that writers of all processes pass, or `nil` if no other process can write.
  var writerGate: WriterGate?
  /// The thread that writes or performs another operation that excludes writers, or `nil` if there
  /// is none.
  var writer: ThreadID?
  /// The thread that has closed the gate, or `nil` if the gate is open.
  var gateOwner: ThreadID?
  /// The number of threads that wait for a change of this state.
  var sleepers = 0

  /// Returns the number of read transactions of a thread.
  func readers(of thread: ThreadID) -> Int {
    var count = 0
    forEachSlot { if $0.thread == thread { count += 1 } }
    return count
  }

  /// Invalidates the cached trees of all readers, because the map is about to move. There must be
  /// no active readers.
  func forgetTrees() {
    forEachSlot { slot in
      slot.trees.forget()
      slot.pageGuard?.pointee.forgetMap()
    }
  }

  /// Throws if no transaction can begin.
  @inline(__always)
  func checkOpen() throws(LMDBError) {
    if handle == nil { throw .closed }
    if let failure { throw failure }
  }

  /// Takes a slot for a reader of `thread`. Returns `nil` while the gate is closed for it.
  ///
  /// A thread that is already reading may begin further readers, because the gate waits for it
  /// anyway.
  @inline(__always)
  mutating func admitReader(_ thread: ThreadID) throws(LMDBError) -> SlotReference? {
    try checkOpen()
    if let gateOwner, gateOwner != thread, readers(of: thread) == 0 { return nil }
    let slot: SlotReference
    if let free = freeSlots {
      slot = free
      freeSlots = free.pointer.pointee.nextFree
    } else {
      slot = SlotReference.make(isWriter: false)
      slot.pointer.pointee.nextSlot = allSlots
      allSlots = slot
    }
    slot.pointer.pointee.thread = thread
    activeReaders += 1
    return slot
  }

  /// Returns a slot to the pool. Returns `true` if a thread is waiting for that.
  @inline(__always)
  mutating func dismissReader(_ slot: SlotReference) -> Bool {
    slot.pointer.pointee.thread = nil
    slot.pointer.pointee.nextFree = freeSlots
    freeSlots = slot
    activeReaders -= 1
    return sleepers > 0
  }
}
