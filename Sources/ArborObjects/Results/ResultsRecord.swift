internal import ArborModel
internal import ArborStore
internal import Synchronization

/// A record of changes that may affect fetched results. They are kept until they are applied.
final class ResultsRecord: ChangeListener {
  /// The state of an object when the results were last updated.
  struct Before {
    /// The record, or `nil` if the object didn't exist, was deleted or was not loaded.
    let record: RecordView?
    let slab: RecordSlab?
    /// Whether the object wasn't registered in the context and was changed only by other commits.
    var isConcurrent = false
  }

  struct Changes {
    /// The previous state of objects whose own state was changed or replaced.
    fileprivate(set) var before: [ObjectNumber: Before] = [:]
    /// The changed properties that are not visible in the state: links, and changes by other
    /// commits.
    fileprivate(set) var bits: [ObjectNumber: UInt64] = [:]
    /// Whether anything else may have changed.
    fileprivate(set) var isAnything = false

    var isEmpty: Bool { before.isEmpty && bits.isEmpty && !isAnything }

    /// The recorded objects, sorted by number.
    var numbers: [ObjectNumber] {
      (before.keys + bits.keys.lazy.filter { before[$0] == nil }).sorted()
    }
  }

  /// The properties whose changes can affect the results, by entity index. `nil` for unrelated
  /// entities.
  private let masks: [UInt64?]
  private let schema: ModelSchema
  /// Whether results change with commits rather than with pending changes.
  private let seesCommitsOnly: Bool
  private var changes = Changes()
  private let over = Atomic(false)
  /// A closure that is called when there are changes to apply and there were none before.
  var announce: () -> Void = {}

  init(masks: [UInt64?], schema: ModelSchema, seesCommitsOnly: Bool) {
    self.masks = masks
    self.schema = schema
    self.seesCommitsOnly = seesCommitsOnly
  }

  var hasChanges: Bool { !changes.isEmpty }

  /// Returns and clears the recorded changes.
  func take() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// Stops recording when the results are deallocated, which can happen on any thread.
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
    // An object that isn't registered isn't a result, and changes of other properties cannot make
    // it one.
    guard isRegistered || concerns else { return }
    add(change.changedProperties, to: change.number)
    // The object may be registered by the time the change is applied.
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
      // It wasn't a result, but now this context changes it, too.
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
