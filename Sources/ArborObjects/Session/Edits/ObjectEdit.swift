internal import ArborModel

/// A change of one object's state, with the previous state.
struct ObjectEdit {
  /// The state of the object before the edit.
  enum Former: UInt8 {
    /// Unknown to the context: the edit inserted or restored it.
    case absent
    /// As committed.
    case unchanged
    case inserted
    case updated
    case deleted
  }

  /// The effect of an edit, as far as it can still be reverted.
  enum Effect {
    /// Not known yet, because the group is still open.
    case open
    /// The edit changed the fields with these bits. The highest bit represents all fields from the
    /// 64th on.
    case changed(UInt64)
    case deleted
    case inserted
    /// Nothing to revert: the object was inserted and deleted again, or deleted by a concurrent
    /// commit.
    case none

    var isAny: Bool {
      switch self {
      case .none, .changed(0): false
      case .open, .changed, .deleted, .inserted: true
      }
    }
  }

  let object: ManagedObject
  let former: Former
  /// Whether undo reverts the edit. Otherwise only restoring a savepoint does.
  let isUndoable: Bool
  /// The previous record, or `nil` if the object was a fault or ``long`` contains it.
  private(set) var record: RecordView?
  /// The slab that contains ``record`` and keeps it valid.
  private(set) var slab: RecordSlab?
  /// The previous record, if it is long and its group has been closed.
  private(set) var long: FormerRecord?
  var effect = Effect.open
  /// A copy of the previous pending change, or `nil` if there was none or no savepoint needs it.
  private(set) var pending: PendingObject?

  /// Captures the current state of an object, before an edit.
  ///
  /// - Parameters:
  ///   - isKnown: Whether the context knows the object. Otherwise the edit is reverted by removing
  ///     it.
  ///   - isInSavepoint: Whether a savepoint may have to restore the state.
  init(
    _ object: ManagedObject, isKnown: Bool = true, isInSavepoint: Bool = false,
    isUndoable: Bool = false
  ) {
    self.object = object
    self.isUndoable = isUndoable
    former =
      switch object.change?.kind {
      case nil, .dropped: isKnown ? .unchanged : .absent
      case .inserted: .inserted
      case .updated: .updated
      case .deleted: .deleted
      }
    record = object.heldRecord
    slab = object.slab
    pending = isInSavepoint ? object.change.map(PendingObject.init) : nil
  }

  /// The record of the object before the edit, or `nil` if it didn't exist.
  var before: RecordView? { wasThere ? long?.view ?? record : nil }

  /// Whether the object existed before the edit.
  var hasBefore: Bool { wasThere && (record != nil || long != nil) }

  var wasThere: Bool { former != .absent && former != .deleted }

  /// Releases data needed only by savepoints. A short record is copied, so that it doesn't keep a
  /// slab with many others alive. A long one is copied when its group is closed.
  mutating func settle(_ allocator: SlabAllocator) {
    pending = nil
    guard hasBefore else {
      record = nil
      slab = nil
      return
    }
    let layout = object.binding.entity.layout
    guard let record, slab !== allocator.slab, record.count < FormerRecord.minimumSize else {
      return
    }
    // The edit retains the slab of the copied record.
    self.record = record.copied(layout, into: allocator)
    slab = allocator.slab
  }

  /// Holds a long record in a form that takes less memory. Does nothing while a savepoint may
  /// restore it.
  mutating func pack(into chain: inout RecordChain, _ memory: HistoryMemory) {
    if long == nil, isUndoable, wasThere, pending == nil, let record,
      record.count >= FormerRecord.minimumSize
    {
      long = FormerRecord(record, of: object.binding.entity, memory)
      self.record = nil
      slab = nil
    }
    if let long { chain.append(long, of: object.number) }
  }

  /// The number of bytes that the edit keeps in memory, apart from a long record: its short one, and
  /// the former values outside of records that it replaced.
  var heldBytes: Int {
    guard wasThere else { return 0 }
    var bytes = record?.count ?? 0
    forEachBlob { field, reference in
      switch effect {
      case .changed(let bits):
        guard bits & (1 << UInt64(min(field.position, 63))) != 0 else { return }
        bytes += Int(clamping: reference.length)
      case .deleted: bytes += Int(clamping: reference.length)
      case .open, .inserted, .none: break
      }
    }
    return bytes
  }

  /// Calls `body` with every large binary value that the previous record refers to.
  func forEachBlob(_ body: (RecordField, BlobReference) -> Void) {
    if let long {
      for blob in long.blobs { body(blob.field, blob.reference) }
    } else if let before {
      for field in object.binding.entity.layout.externalFields {
        if let reference = before.blob(field) { body(field, reference) }
      }
    }
  }

  /// Determines the combined effect of the edit and subsequent edits of the same object.
  mutating func seal() {
    guard case .open = effect else { return }
    let isAlive = object.session != nil && object.change?.kind != .deleted
    switch (before, isAlive) {
    case (nil, true): effect = .inserted
    case (nil, false): effect = .none
    case (.some, false): effect = object.change != nil || object.state.isOver ? .deleted : .none
    case (.some(let before), true):
      effect = .changed(
        before.editedFields(since: object.currentRecord, in: object.binding.entity.layout))
    }
  }
}
