internal import ArborModel

/// What a context's pending state was, step by step, while a savepoint is open.
///
/// Records are never copied for it: a working record that the savepoint finds is left as it is, and
/// the next change to it goes into a new one. Restoring puts the earlier records back, last step
/// first.
final class ChangeJournal: ChangeListener {
  /// One step, as what undoes it.
  enum Entry {
    /// An object's state before its first change in a savepoint.
    case object(ObjectStep)
    /// What an edit said of a member before it changed.
    case link(LinkEdit, ObjectNumber, LinkEdit.Standing)
    /// The sequence of an ordered relationship's members before the first change of these, or of
    /// the sequence, in a savepoint.
    case order(LinkEdit, OrderEdit?)
  }

  var entries: [Entry] = []

  var isOver: Bool { false }

  func note(_ entry: Entry) { entries.append(entry) }
}

/// An object's pending state at one moment.
struct ObjectStep {
  let object: ManagedObject
  /// nil: the object was unchanged.
  let kind: ObjectChange.Kind?
  let record: RecordView?
  let slab: RecordSlab?
  let working: RecordBuffer?
  let committed: RecordView?
  let committedSlab: RecordSlab?
  let formerVersion: UInt32
  let epoch: UInt32
  let quietMutations: UInt32
  /// Whether the object was known to the context at all: an insertion is undone by forgetting.
  let existed: Bool

  /// The present state of an object.
  init(_ object: ManagedObject, existed: Bool = true) {
    self.object = object
    let change = object.change
    kind = change?.kind
    record = object.base.map { RecordView(base: $0, count: Int(object.count)) }
    slab = object.slab
    working = change?.working
    committed = change?.committed
    committedSlab = change?.committedSlab
    formerVersion = change?.formerVersion ?? 0
    epoch = change?.epoch ?? 0
    quietMutations = change?.isQuiet == true ? change?.mutations ?? .max : .max
    self.existed = existed
  }
}
