internal import ArborModel

/// The way to the bytes, for everything that reads and writes properties.
extension ManagedObject {
  /// The record as the context sees it; reads it from the store first where the object is a fault.
  ///
  /// Never fails: where the store does, the record of default values stands in, and the context
  /// remembers the error.
  @inline(__always)
  final var currentRecord: RecordView {
    if let base { return RecordView(base: base, count: Int(count)) }
    return faultedRecord()
  }

  /// The record that the object holds; nil for a fault.
  final var heldRecord: RecordView? { base.map { RecordView(base: $0, count: Int(count)) } }

  @inline(never)
  final func faultedRecord() -> RecordView {
    guard let session else {
      if state == .forgotten { binding.noteLostRead(nil, of: number) }
      return binding.template
    }
    guard session.load(self), let base else { return binding.template }
    return RecordView(base: base, count: Int(count))
  }

  /// The object that a to-one relationship leads to by its record, as a number. Never fails: nil
  /// where it is of no entity that the relationship leads to, and the context remembers the error.
  @inline(__always)
  final func target(of relationship: RelationshipSchema) -> ObjectNumber? {
    guard let field = relationship.field, let target = currentRecord.reference(field) else {
      return nil
    }
    if relationship.leads(to: target) { return target }
    _ = session?.admits(target, of: self, relationship)
    return nil
  }

  /// Points the object at a record.
  @inline(__always)
  final func hold(_ record: RecordView, _ slab: RecordSlab?) {
    base = record.base
    count = Int32(truncatingIfNeeded: record.count)
    self.slab = slab
  }

  /// Lets go of the record: the next read takes it from the store.
  final func becomeFault() {
    base = nil
    count = 0
    slab = nil
  }

  /// Changes the record: makes a working copy of it at the first change, lets `body` write there.
  ///
  /// - Returns: Whether there was a record to change. Where it cannot be read the context remembers
  ///   the error; changes of a deleted object have no effect.
  @discardableResult
  @inline(__always)
  final func write(_ body: (inout RecordBuffer, SlabAllocator) -> Void) -> Bool {
    guard let session else { refuseChange() }
    guard let change = writableChange(session), change.working != nil else { return false }
    // In place: taking the buffer out would cost a retain and a release of its slab.
    body(&change.working!, session.allocator)
    change.mutations &+= 1
    // A longer value may have moved the bytes.
    let working = UnsafeRawPointer(change.working!.base)
    if working != base { slab = change.working!.slab }
    base = working
    count = Int32(truncatingIfNeeded: change.working!.count)
    return true
  }

  /// The object's change, ready to be written to; nil where the record cannot be read.
  @inline(__always)
  final func writableChange(_ session: Session) -> PendingObject? {
    if let change, change.epoch == session.epoch, change.working != nil { return change }
    return session.beginWriting(self)
  }

  /// Stops a change of an object that no context will ever commit.
  final func refuseChange() -> Never {
    stopProgram(
      "\(binding.objectID(number)) can no longer be changed: \(whyDetached). Keep its objectID, "
        + "and fetch the object from a context.")
  }

  /// Why the object has no context, for messages.
  final var whyDetached: String { state.reason }
}

extension ManagedObject.State {
  /// Why an object has no context, for messages.
  var reason: String {
    switch self {
    case .live: "it doesn't belong to a context"
    case .forgotten: "its context was deallocated or reset"
    case .gone: "it was deleted"
    }
  }
}
