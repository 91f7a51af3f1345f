internal import ArborModel

/// Access to the record bytes, used by everything that reads or writes properties.
extension ManagedObject {
  /// The record as the context sees it. Loads it from the store if the object is a fault.
  ///
  /// Never fails: if the store cannot be read, this is the record of default values, and the
  /// context keeps the error.
  @inline(__always)
  final var currentRecord: RecordView {
    if let base { return RecordView(base: base, count: Int(count)) }
    return faultedRecord()
  }

  /// The record the object holds, or `nil` if it is a fault.
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

  /// Returns the number of the object that a to-one relationship points to. Never fails: if the
  /// object's entity isn't valid for the relationship, returns `nil`, and the context keeps the
  /// error.
  @inline(__always)
  final func target(of relationship: RelationshipSchema) -> ObjectNumber? {
    guard let field = relationship.field, let target = currentRecord.reference(field) else {
      return nil
    }
    if relationship.leads(to: target) { return target }
    _ = session?.admits(target, of: self, relationship)
    return nil
  }

  @inline(__always)
  final func hold(_ record: RecordView, _ slab: RecordSlab?) {
    base = record.base
    count = Int32(truncatingIfNeeded: record.count)
    self.slab = slab
  }

  /// Releases the record. The next read loads it from the store.
  final func becomeFault() {
    base = nil
    count = 0
    slab = nil
  }

  /// Changes the record through `body`. The first change creates a working copy.
  ///
  /// - Returns: Whether there was a record to change. If it cannot be read, the context keeps the
  ///   error. Changes of a deleted object have no effect.
  @discardableResult
  @inline(__always)
  final func write(_ body: (inout RecordBuffer, SlabAllocator) -> Void) -> Bool {
    guard let session else {
      refuseChange()
      return false
    }
    guard let change = writableChange(session), change.working != nil else { return false }
    // In place: moving the buffer out would cost a retain and a release of its slab.
    body(&change.working!, session.allocator)
    change.mutations &+= 1
    // A longer value may have moved the record.
    if UnsafeRawPointer(change.working!.base) != base {
      slab = change.working!.slab
    }
    base = UnsafeRawPointer(change.working!.base)
    count = Int32(truncatingIfNeeded: change.working!.count)
    return true
  }

  /// Returns the object's pending change, ready for writing, or `nil` if the record cannot be read.
  @inline(__always)
  final func writableChange(_ session: Session) -> PendingObject? {
    if let change, change.epoch == session.epoch, change.working != nil { return change }
    return session.beginWriting(self)
  }

  /// Refuses a change of an object without a context. If the program could not know that, because
  /// another commit deleted the object, the context's next throwing operation throws. Otherwise
  /// traps.
  @inline(never)
  final func refuseChange() {
    if isLost {
      binding.session?.noteRefused(lostObject)
      return
    }
    stopProgram(
      "\(binding.objectID(number)) can no longer be changed: \(whyDetached). Keep its objectID, "
        + "and fetch the object from a context.")
  }

  /// Whether another commit deleted the object or it was merged into another object.
  final var isLost: Bool { state == .lost || state == .merged }

  /// The error of a change of an object that another commit deleted, or of a link to it.
  final var lostObject: ArborError {
    ArborError(
      .objectNotFound,
      "\(objectID) can no longer be changed or linked to: \(whyDetached). Treat it as deleted."
    ).with(entity: binding.entity.name, objectID: objectID)
  }

  /// The reason why the object has no context, for messages.
  final var whyDetached: String { state.reason }
}

extension ManagedObject.State {
  /// Whether the object no longer exists.
  var isOver: Bool {
    switch self {
    case .live, .forgotten, .missing: false
    case .gone, .lost, .merged: true
    }
  }

  /// The reason why an object has no context, for messages.
  var reason: String {
    switch self {
    case .live: "it doesn't belong to a context"
    case .forgotten: "its context was deallocated or reset"
    case .gone, .missing: "it was deleted"
    case .lost: "another commit deleted it"
    case .merged: "it was merged into another object with the same unique value"
    }
  }
}
