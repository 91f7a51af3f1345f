internal import ArborModel

/// One object of a store, as a workspace keeps track of it: its number, the record that it holds
/// and the change of it that waits for a commit.
///
/// Live objects are of subclasses, which add what their users see of it. It is public because they
/// are; there is nothing in it for them.
nonisolated open class TrackedObject {
  // Few fields, since there are as many of each as objects: with them an object takes 80 bytes.

  /// The workspace, which clears the reference before it goes.
  final var workspaceReference: Unmanaged<Workspace>?
  final let number: ObjectNumber
  final let shape: EntityShape
  /// The record as the workspace has it; nil for a fault, whose record is still in the store.
  final var base: UnsafeRawPointer?
  /// What keeps ``base`` alive.
  final var slab: RecordSlab?
  /// What waits for a commit; nil for an unchanged object.
  final var change: PendingObject?
  final var count: Int32
  final var state: State

  /// Where an object stands apart from its changes.
  enum State: UInt8 {
    /// It belongs to its workspace.
    case live
    /// Its workspace has gone or has been reset.
    case forgotten
    /// Its deletion was committed, here or elsewhere, or its insertion was taken back.
    case gone
  }

  /// Makes an object that holds a record, or none.
  ///
  /// - Parameters:
  ///   - shape: One reference to it is given away.
  ///   - slab: What keeps the record alive; one reference to it is given away.
  init(
    in workspace: Unmanaged<Workspace>?, _ number: ObjectNumber,
    shape: Unmanaged<EntityShape>, _ record: RecordView?, _ slab: Unmanaged<RecordSlab>?
  ) {
    workspaceReference = workspace
    self.number = number
    self.shape = shape.takeRetainedValue()
    base = record?.base
    self.slab = slab?.takeRetainedValue()
    count = Int32(truncatingIfNeeded: record?.count ?? 0)
    state = .live
  }

  /// The workspace; nil once that has gone or was reset.
  @inline(__always)
  final var workspace: Workspace? {
    get { workspaceReference?.takeUnretainedValue() }
    set { workspaceReference = newValue.map { Unmanaged.passUnretained($0) } }
  }

  /// Ends the object's belonging to its workspace.
  @inline(__always)
  final func detach(_ state: State) {
    workspaceReference = nil
    // Most have none, and setting it costs a call even then.
    if change != nil { change = nil }
    self.state = state
  }
}
