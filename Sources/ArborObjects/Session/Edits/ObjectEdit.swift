internal import ArborModel

/// A change of one object's state, with what that was before.
struct ObjectEdit {
  /// The state of the object before the edit.
  enum Former: UInt8 {
    /// Not known to the context: the edit inserted it, or brought it back.
    case absent
    /// As it was committed.
    case unchanged
    case inserted
    case updated
    case deleted
  }

  /// The effect of the edit, as far as it is left to take back.
  enum Effect {
    /// Not known yet: the group goes on.
    case open
    /// It changed the fields of the bits, the highest of which stands for all from the 64th on.
    case changed(UInt64)
    case deleted
    case inserted
    /// Nothing to take back: the object came and went, or a concurrent commit deleted it.
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
  /// Whether undo takes it back; otherwise only a savepoint does.
  let isUndoable: Bool
  /// The record before; nil where the object was a fault.
  private(set) var record: RecordView?
  /// Keeps ``record`` alive.
  private(set) var slab: RecordSlab?
  var effect = Effect.open
  /// A copy of what waited for a commit before; nil where nothing did, or no savepoint asks.
  private(set) var pending: PendingObject?

  /// Longer records are kept where they are; a short one would keep a slab of many alive.
  private static let longestCopy = 4096

  /// The present state of an object, before an edit.
  ///
  /// - Parameters:
  ///   - isKnown: Whether the context knows the object: otherwise the edit is taken back by
  ///     forgetting it.
  ///   - isInSavepoint: Whether a savepoint may have to go back to the state.
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

  /// The record by which the object was there before; nil where it was not.
  var before: RecordView? { wasThere ? record : nil }

  var wasThere: Bool { former != .absent && former != .deleted }

  /// Releases what only savepoints need; a short record is copied, so that it keeps no slab of
  /// many alive.
  mutating func settle(_ allocator: SlabAllocator) {
    pending = nil
    guard let before else {
      record = nil
      slab = nil
      return
    }
    guard before.count <= Self.longestCopy, let source = before.bytes.baseAddress,
      slab !== allocator.slab
    else { return }
    let base = allocator.allocate(before.count)
    // The edit holds the slab of what is copied.
    base.copyMemory(from: source, byteCount: before.count)
    record = RecordView(base: base, count: before.count)
    slab = allocator.slab
  }

  /// Finds out what the edit, and those of the same object behind it, changed.
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
