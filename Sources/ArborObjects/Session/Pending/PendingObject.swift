internal import ArborModel

/// The pending change of one object, and the object's state before it.
///
/// The first change copies the record (copy-on-write). From then on the object uses the copy, the
/// working record, while the committed record is kept here. A rollback discards bytes, a merge
/// compares three records, and `changedValues` compares two.
final class PendingObject {
  enum Kind: UInt8 {
    case inserted
    case updated
    case deleted
    /// Reverted: the inserted object was deleted again, or the change was rolled back.
    case dropped
  }

  /// The effect of concurrent commits on an object.
  enum Concurrent: UInt8 {
    case none
    case changed
    case deleted
  }

  /// The changed object. The registry retains it as long as it has a change. A strong reference
  /// would be a cycle, and a checked one costs 60 ns per access, of which a commit makes several
  /// for each object.
  unowned(unsafe) let object: ManagedObject
  var kind: Kind
  /// The bytes that changes are made to, or `nil` if only links changed or the object was deleted
  /// without changes.
  var working: RecordBuffer?
  /// The last committed or fetched record, owned by ``committedSlab``, or `nil` for an inserted
  /// object.
  var committed: RecordView?
  var committedSlab: RecordSlab?
  /// The record that the changes were based on before ``committed`` became the record of a newer
  /// commit, and the fields that the context had changed by then.
  private var base: Origin?
  /// The last version of an object that was deleted and is inserted again.
  var formerVersion: UInt32 = 0
  /// The effect of concurrent commits that were not merged into the pending change. If there are
  /// any, a rollback must not restore ``committed``.
  var concurrent = Concurrent.none
  /// The epoch in which ``working`` was created. Its bytes may be written only in this epoch.
  private(set) var epoch: UInt32
  /// Whether the last change set created from this change contains a record of the object.
  var isSubmitted = false
  /// The number of changes, which determines whether `willCommit` must be called again.
  var mutations: UInt32 = 0
  /// The value of ``mutations`` at the last call of `willCommit`.
  var announcedMutations: UInt32 = .max
  /// The value of ``mutations`` when the object's hooks last validated it.
  var validatedMutations: UInt32 = .max
  /// The value of ``mutations`` after the last change that only removed a link to an object deleted
  /// under the rule "no action".
  var quietMutations: UInt32 = .max

  /// Whether the object changed only because an object it pointed to was deleted under the rule "no
  /// action". No hooks are called in that case, and only mandatory values are checked.
  var isQuiet: Bool { quietMutations == mutations }

  init(_ object: ManagedObject, _ kind: Kind, epoch: UInt32) {
    self.object = object
    self.kind = kind
    self.epoch = epoch
  }

  /// Creates a copy that a savepoint can restore.
  convenience init(_ change: PendingObject) {
    self.init(change.object, change.kind, epoch: change.epoch)
    take(change)
  }

  private func take(_ copy: PendingObject) {
    kind = copy.kind
    working = copy.working
    committed = copy.committed
    committedSlab = copy.committedSlab
    base = copy.base
    formerVersion = copy.formerVersion
    quietMutations = copy.isQuiet ? mutations : .max
  }

  /// Restores the state of a copy.
  func restore(_ copy: PendingObject, in pending: PendingObjects) {
    begin(copy.epoch, in: pending)
    mutations &+= 1
    take(copy)
  }

  /// The bit that is set in ``epoch`` while lookup tables contain the object's values. The next
  /// write sees an epoch that differs from the context's and notifies the tables.
  private static let readBit: UInt32 = 1

  func noteRead() { epoch |= Self.readBit }

  /// Returns whether the current working record may be written after notifying the lookup tables.
  func isRead(in epoch: UInt32) -> Bool {
    self.epoch == epoch | Self.readBit && working != nil
  }

  /// Begins writing in an epoch, and reports the object to the lookup tables.
  func begin(_ epoch: UInt32, in pending: PendingObjects) {
    self.epoch = epoch
    pending.noteRewritten(self)
  }

  typealias Origin = (record: RecordView, slab: RecordSlab?, fields: UInt64)

  /// The record that the changes are based on, if ``committed`` is the record of a newer commit and
  /// the merge policy has yet to decide about the changes of both. `nil` otherwise, also after the
  /// context has taken back what it had changed before that commit.
  var origin: Origin? {
    get {
      guard let base, let committed else { return base }
      let (layout, current) = (object.binding.entity.layout, object.currentRecord)
      // Both sides may have made the same change, which is a conflict nevertheless.
      let changed =
        base.record.editedFields(since: current, in: layout)
        | committed.editedFields(since: current, in: layout)
      return changed & base.fields == 0 ? nil : base
    }
    set { base = newValue }
  }

  /// Whether the change has no net effect: the object's record equals the committed one, derived
  /// values aside, and the commit has no conflict to detect.
  var hasNoEffect: Bool { isAsCommitted && origin == nil }

  /// Whether a commit would write the change.
  var isEffective: Bool {
    switch kind {
    case .inserted: true
    case .updated: !hasNoEffect
    // An object that was never committed isn't in the store.
    case .deleted: committed != nil
    case .dropped: false
    }
  }

  /// Whether the object's record equals the committed one, derived values aside.
  var isAsCommitted: Bool {
    guard kind == .updated, let committed else { return false }
    return committed.editedFields(since: object.currentRecord, in: object.binding.entity.layout)
      == 0
  }

  /// Returns the membership of the object at an owner whose members are derived from the object's
  /// reference, according to its current and committed values.
  func membership(at owner: ObjectNumber, _ relationship: RelationshipSchema) -> LinkMembership {
    guard kind != .dropped,
      let field = object.binding.entity.relationships[relationship.inverseSlot].field
    else {
      return .unmentioned
    }
    var wasMember = committed?.reference(field) == owner
    // The record of a deleted object contains the changes of other commits.
    if kind == .deleted, concurrent == .changed, object.currentRecord.reference(field) == owner {
      wasMember = true
    }
    guard kind != .deleted, object.currentRecord.reference(field) == owner else {
      return wasMember ? .removed : .unmentioned
    }
    // An unmerged concurrent commit may have moved it elsewhere.
    return wasMember && concurrent == .none ? .unmentioned : .added
  }

  /// The version of the record that the changes are based on.
  var baseVersion: UInt32 { origin?.record.version ?? committed?.version ?? formerVersion }

  /// Whether the commit will detect a conflict, because another commit has changed the object. Until
  /// the policy has resolved it, the object's values are preliminary.
  var isContested: Bool {
    kind == .updated && (origin != nil || concurrent != .none) && !hasNoEffect
  }

  /// Returns whether another commit has changed the stored record. If only its derived values have
  /// changed, the version is the same.
  func isOutdated(by stored: RecordView) -> Bool {
    stored.version != baseVersion || hasOtherDerivedValues(than: stored)
  }

  func hasOtherDerivedValues(than stored: RecordView) -> Bool {
    committed?.differsInDerivedFields(from: stored, in: object.binding.entity.layout) ?? false
  }
}
