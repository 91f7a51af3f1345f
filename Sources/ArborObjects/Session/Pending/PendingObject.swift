internal import ArborModel

/// The pending change of one object, and the object's state before it.
///
/// The object's record is the working record from the first change on; the committed one stays
/// here, so that a rollback drops bytes, a merge compares three records and `changedValues` two.
final class PendingObject {
  enum Kind: UInt8 {
    case inserted
    case updated
    case deleted
    /// Taken back: an insertion that was deleted again, or a change that was rolled back.
    case dropped
  }

  /// What concurrent commits have done to an object.
  enum Concurrent: UInt8 {
    case none
    case changed
    case deleted
  }

  /// The registry keeps the object as long as it has a change. A counted reference would be a
  /// cycle, and a checked one takes 60 ns at each use, of which a commit has several for each
  /// object.
  unowned(unsafe) let object: ManagedObject
  var kind: Kind
  /// The bytes that changes are made to; nil where only links changed, or the object was deleted
  /// unchanged.
  var working: RecordBuffer?
  /// The record as last committed or fetched, kept alive by ``committedSlab``; nil for an inserted
  /// object.
  var committed: RecordView?
  var committedSlab: RecordSlab?
  /// A version of the former life of an object that was deleted and is inserted again.
  var formerVersion: UInt32 = 0
  /// What concurrent commits have done to the object while its change waited and was not put on
  /// top of them; a rollback must not bring ``committed`` back then.
  var concurrent = Concurrent.none
  /// The savepoint in which ``working`` was made: its bytes may be written in that one only.
  private(set) var epoch: UInt32
  /// Whether the last change set that was made of it has a record of the object.
  var isSubmitted = false
  /// Counts the changes, so that `willCommit` is called again after one.
  var mutations: UInt32 = 0
  /// The count at the last call of `willCommit`.
  var announcedMutations: UInt32 = .max
  /// The count after the last change that only dropped a link to an object deleted under the rule
  /// "no action".
  var quietMutations: UInt32 = .max

  /// Whether the object changed only because something it pointed at was deleted under the rule "no
  /// action", which asks for no hooks and no checks.
  var isQuiet: Bool { quietMutations == mutations }

  init(_ object: ManagedObject, _ kind: Kind, epoch: UInt32) {
    self.object = object
    self.kind = kind
    self.epoch = epoch
  }

  /// A copy for a savepoint to go back to.
  convenience init(_ change: PendingObject) {
    self.init(change.object, change.kind, epoch: change.epoch)
    take(change)
  }

  private func take(_ copy: PendingObject) {
    kind = copy.kind
    working = copy.working
    committed = copy.committed
    committedSlab = copy.committedSlab
    formerVersion = copy.formerVersion
    quietMutations = copy.isQuiet ? mutations : .max
  }

  /// Goes back to what a copy holds.
  func restore(_ copy: PendingObject, in pending: PendingObjects) {
    begin(copy.epoch, in: pending)
    mutations &+= 1
    take(copy)
  }

  /// Set in ``epoch`` while look-up tables hold what the object's record says: so the next write,
  /// which finds another epoch than its context's, tells them.
  private static let readBit: UInt32 = 1

  func noteRead() { epoch |= Self.readBit }

  /// Whether the present working record may be written as soon as the look-up tables know.
  func isRead(in epoch: UInt32) -> Bool {
    self.epoch == epoch | Self.readBit && working != nil
  }

  /// Begins a savepoint's writes, of which the first is reported to the look-up tables.
  func begin(_ epoch: UInt32, in pending: PendingObjects) {
    self.epoch = epoch
    pending.noteRewritten(self)
  }

  /// Whether it makes no net change: the object's record is as it was committed.
  var hasNoEffect: Bool {
    guard kind == .updated, let committed else { return false }
    return committed.changedFields(since: object.currentRecord, in: object.binding.entity.layout)
      == 0
  }

  /// The membership of its object, by the change, at an owner whose members the store derives: by
  /// the field that leads there, now and before.
  func membership(at owner: ObjectNumber, _ relationship: RelationshipSchema) -> LinkMembership {
    guard kind != .dropped,
      let field = object.binding.entity.relationships[relationship.inverseSlot].field
    else {
      return .unmentioned
    }
    var wasMember = committed?.reference(field) == owner
    // A deleted object holds what others have made of it meanwhile.
    if kind == .deleted, concurrent == .changed, object.currentRecord.reference(field) == owner {
      wasMember = true
    }
    guard kind != .deleted, object.currentRecord.reference(field) == owner else {
      return wasMember ? .removed : .unmentioned
    }
    // A concurrent commit beneath it may have moved it elsewhere.
    return wasMember && concurrent == .none ? .unmentioned : .added
  }

  var baseVersion: UInt32 { committed?.version ?? formerVersion }
}
