internal import ArborModel
internal import ArborStore
internal import Synchronization

/// Records what may concern fetched results, until they take it in.
final class ResultsRecord: ChangeListener {
  /// An object as it was when the results last took something in.
  struct Before {
    /// nil where it was no object, was deleted or had not been read: no result, in any case.
    let record: RecordView?
    let slab: RecordSlab?
    /// Whether the context did not keep the object, and only others have changed it.
    var isConcurrent = false
  }

  struct Changes {
    /// The state before, of objects whose own state changed or was replaced.
    fileprivate(set) var before: [ObjectNumber: Before] = [:]
    /// Which properties have changed that the state does not tell of: links, and what others have
    /// committed.
    fileprivate(set) var bits: [ObjectNumber: UInt64] = [:]
    /// Whether anything beyond may have changed.
    fileprivate(set) var isAnything = false

    var isEmpty: Bool { before.isEmpty && bits.isEmpty && !isAnything }

    /// The objects that were told of, in the order of their numbers.
    var numbers: [ObjectNumber] {
      (before.keys + bits.keys.lazy.filter { before[$0] == nil }).sorted()
    }
  }

  /// What is read, by the indexes of concrete entities: the properties of objects whose change can
  /// alter the results; nil for entities that have nothing to do with them.
  private let masks: [UInt64?]
  private let schema: ModelSchema
  /// Whether results change with commits rather than with what waits for one.
  private let seesCommitsOnly: Bool
  private var changes = Changes()
  private let over = Atomic(false)
  /// Called when there is something to take in after there was nothing.
  var announce: () -> Void = {}

  init(masks: [UInt64?], schema: ModelSchema, seesCommitsOnly: Bool) {
    self.masks = masks
    self.schema = schema
    self.seesCommitsOnly = seesCommitsOnly
  }

  var hasChanges: Bool { !changes.isEmpty }

  /// What was recorded since the last time.
  func take() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// The results have gone. From any thread: the last release of an object can happen anywhere.
  func end() { over.store(true, ordering: .releasing) }

  // MARK: ChangeListener

  var isOver: Bool { over.load(ordering: .acquiring) }

  func note(_ edit: Edit) {
    switch edit {
    case .object(let edit): note(edit)
    case .link(let edit): noteReplaced(linksOf: edit.owner, edit.relationship)
    case .order(let owner, let relationship, _): noteReplaced(linksOf: owner, relationship)
    case .sequence, .none: break
    }
  }

  func noteReplaced(_ object: ManagedObject) { note(ObjectEdit(object)) }

  func noteReplaced(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {
    guard relationship.storage == .links, let entity = concerned(owner) else { return }
    add(entity.changeBit(ofLinks: relationship.slot), to: owner)
  }

  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool) {
    guard let entity = concerned(change.number), let mask = masks[entity.index] else { return }
    let concerns = change.kind != .update || change.changedProperties & mask != 0
    // What the context does not keep is no result, and cannot become one by other properties.
    guard isRegistered || concerns else { return }
    add(change.changedProperties, to: change.number)
    // By the time that it is looked at, the context may keep it.
    if !isRegistered, changes.before[change.number] == nil {
      changes.before[change.number] = Before(record: nil, slab: nil, isConcurrent: true)
    }
  }

  func noteAnything() { change { $0.isAnything = true } }

  func noteCommitted() {
    if seesCommitsOnly { noteAnything() }
  }

  private func note(_ edit: ObjectEdit) {
    let number = edit.object.number
    guard concerned(number) != nil else { return }
    if let known = changes.before[number] {
      // It was no result; by now this context changes it too.
      if known.isConcurrent { changes.before[number]?.isConcurrent = false }
      return
    }
    change {
      $0.before[number] = Before(record: edit.before, slab: edit.wasThere ? edit.slab : nil)
    }
  }

  private func add(_ bits: UInt64, to number: ObjectNumber) {
    change { $0.bits[number, default: 0] |= bits }
  }

  private func change(_ body: (inout Changes) -> Void) {
    let wasEmpty = changes.isEmpty
    body(&changes)
    if wasEmpty { announce() }
  }

  private func concerned(_ number: ObjectNumber) -> EntitySchema? {
    guard let entity = schema.entity(of: number), masks[entity.index] != nil else { return nil }
    return entity
  }
}
