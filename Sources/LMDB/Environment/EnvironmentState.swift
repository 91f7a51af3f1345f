/// What the threads of one process share about an environment; always used under its lock.
///
/// Growing the map moves it, which is only allowed while no transaction of this process lives:
/// `gateOwner` is the thread that has closed the gate for that. A closed gate keeps new readers out
/// and waits until `activeReaders` is zero.
struct EnvironmentState {
  /// LMDB's environment; nil once closed.
  var handle: OpaquePointer?
  /// Why nothing can begin any more.
  var failure: LMDBError?

  /// Slots without a user, most recently used first.
  var freeSlots: SlotReference?
  /// Every slot ever made.
  var allSlots: SlotReference?
  var activeReaders = 0
  /// Readers whose thread waits for the writer and can therefore not end.
  var blockedReaders = 0

  /// The thread that writes, or that does something no writer may disturb.
  var writer: ThreadID?
  /// The thread that has closed the gate.
  var gateOwner: ThreadID?
  /// Threads that sleep until something here changes.
  var sleepers = 0

  /// The number of transactions that `thread` reads with.
  func readers(of thread: ThreadID) -> Int {
    var count = 0
    forEachSlot { if $0.thread == thread { count += 1 } }
    return count
  }

  /// Makes every reader look for its trees anew: the map is about to move. Nobody reads.
  func forgetTrees() {
    forEachSlot { slot in
      slot.trees.forget()
      slot.pageGuard?.pointee.forgetMap()
    }
  }

  /// Throws where no transaction can begin at all.
  @inline(__always)
  func checkOpen() throws(LMDBError) {
    if handle == nil { throw .closed }
    if let failure { throw failure }
  }

  /// Takes a slot for a reader of `thread`; nil while the gate is closed for it.
  ///
  /// A thread that reads already may read more: the gate waits for it in any case.
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

  /// Gives a slot back; true if somebody waits for that.
  @inline(__always)
  mutating func dismissReader(_ slot: SlotReference) -> Bool {
    slot.pointer.pointee.thread = nil
    slot.pointer.pointee.nextFree = freeSlots
    freeSlots = slot
    activeReaders -= 1
    return sleepers > 0
  }
}
