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
  /// The previous record, or `nil` if the object was a fault.
  private(set) var record: RecordView?
  /// The slab that contains ``record`` and keeps it valid.
  private(set) var slab: RecordSlab?
  var effect = Effect.open
  /// A copy of the previous pending change, or `nil` if there was none or no savepoint needs it.
  private(set) var pending: PendingObject?

  /// The maximum size of records that are copied, in bytes. Without a copy, a short record would
  /// keep a slab with many others alive.
  private static let maximumCopySize = 4096

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
  var before: RecordView? { wasThere ? record : nil }

  var wasThere: Bool { former != .absent && former != .deleted }

  /// Releases data needed only by savepoints. A short record is copied, so that it doesn't keep a
  /// slab with many others alive.
  mutating func settle(_ allocator: SlabAllocator) {
    pending = nil
    guard let before else {
      record = nil
      slab = nil
      return
    }
    guard before.count <= Self.maximumCopySize, let source = before.bytes.baseAddress,
      slab !== allocator.slab
    else { return }
    let base = allocator.allocate(before.count)
    // The edit retains the slab of the copied record.
    base.copyMemory(from: source, byteCount: before.count)
    record = RecordView(base: base, count: before.count)
    slab = allocator.slab
  }

  /// Determines the combined effect of the edit and subsequent edits of the same object.
  mutating func seal() {
    guard case .open = effect else { return }
    let isAlive = object.session != nil && object.change?.kind != .deleted
    switch (before, isAlive) {
    case (nil, true): effect = .inserted
    case (nil, false): effect = .none
    case (.some, false): effect = object.change != nil || object.state == .gone ? .deleted : .none
    case (.some(let before), true):
      effect = .changed(
        before.changedFields(since: object.currentRecord, in: object.binding.entity.layout))
    }
  }
}
