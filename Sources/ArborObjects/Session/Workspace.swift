internal import ArborModel
internal import ArborStore
internal import Foundation

/// What waits in one context for a commit, over what the store has.
///
/// It knows objects by their numbers, records and relationships, and nothing of their classes:
///
/// - ``registry``: the objects that the context keeps, with the records that they hold;
/// - ``pending`` and ``links``: what waits for a commit, which is what all edits since the last one
///   come to;
/// - ``log``: the ``Edit``s that a savepoint or undo may take back.
///
/// Links are changed by ``InverseKeeper``, objects deleted by ``DeletePropagation``, concurrent
/// commits taken in by ``takeInCommits(upTo:)`` and merged by ``ChangeMerger``.
///
/// It belongs to whatever runs its context.
final class Workspace {
  let file: StoreEngine
  let schema: ModelSchema
  let registry = ObjectRegistry()
  let pending: PendingObjects
  let links: PendingMemberships
  /// The memory of working records.
  let allocator = SlabAllocator()
  /// The live objects above; it owns the workspace.
  var host: any WorkspaceHost { attached.unsafelyUnwrapped }
  private unowned(unsafe) var attached: (any WorkspaceHost)?
  /// The same, without the protocol.
  @inline(__always)
  var hostReference: Unmanaged<AnyObject> { attachedReference.unsafelyUnwrapped }
  var attachedReference: Unmanaged<AnyObject>?
  private let openState: OpenState
  /// What ends the operation that runs at present before it is done.
  let limit = WorkLimit()
  /// What watches the queries; nil where nobody wants to know of them.
  var watch: QueryWatch?

  /// Whose rules localized comparisons follow; nil for the process's locale.
  var locale: Locale?

  // MARK: Edits

  /// The edits that a savepoint or undo may take back.
  let log = EditLog()
  var isInSavepoint = false
  /// Tells savepoints and undo groups apart: a working record may be written only in the one it was
  /// made in. Even; see ``PendingObject/readBit``.
  private(set) var epoch: UInt32 = 2
  /// What records edits for undo; nil where nothing does.
  var undo: (any UndoRecorder)?
  /// What is told of every edit.
  var listeners: [any ChangeListener] = []
  /// Whether listeners are told of one just now, so that nothing is in place yet.
  var isTellingListeners = false

  // MARK: Reading

  /// The snapshot that all reads use while one is pinned.
  var pinned: StoreSnapshot?
  /// Whether the pinned snapshot is a view of the program's, which its own commits move on.
  var isInView = false
  /// What prefetching has found out.
  var memberships = MembershipCache()
  /// A failure of a call that cannot throw, which the next throwing operation reports.
  var failure: DeferredFailure?

  /// What waits, as fetches see it; nil before the first one.
  var madeOverlay: FetchOverlay?

  // MARK: Concurrent commits

  /// What happens where they changed the same objects.
  var policy = ConcurrencyPolicy.refuses
  /// Whether they are taken in at the beginning of each operation.
  var takesInCommits = true
  /// The newest commit that has been taken in.
  var sequence: UInt64
  /// Whether objects were read again when commits were merged, whose hooks have to be called.
  var hasReloaded = false
  /// The objects whose values were known before the commits that are being merged.
  var outdated: [ObjectNumber] = []
  /// Own commits that the store may list after ``sequence``.
  var ownSequences: Set<UInt64> = []
  /// Objects that were read as later commits have left them, while somebody is told of changes.
  var readAhead: Set<ObjectNumber> = []
  /// Whether there were any beneath pending changes of links, so that the result of applying these
  /// to the stored links may be another one without them.
  var hasConcurrentLinks = false
  /// Links that were made here and have gone with what concurrent commits have deleted, by the ends
  /// that are still there, while the policy is to refuse that. They are left out of all
  /// relationships at once, so that nobody stumbles over an object that is not there, and stay
  /// changes which a commit cannot write.
  var lostLinks: Set<OwnedLink> = []
  /// Objects that have been merged and whose links may have to be mended. See ``mendLinks()``.
  var mendings: [LinkMending] = []

  /// What waits over a store's file, empty. It needs a host before anything else.
  init(_ file: StoreEngine, _ openState: OpenState) {
    self.file = file
    self.openState = openState
    schema = file.schema
    sequence = file.lastSequence
    pending = PendingObjects(entityCount: file.schema.entities.count)
    links = PendingMemberships(file.schema, pending)
  }

  deinit {
    // Objects may outlive the workspace; they must not find it.
    registry.forgetAll()
  }

  /// Sets what the live objects are made by, which owns the workspace.
  func attach(_ host: any WorkspaceHost) {
    attached = host
    attachedReference = Unmanaged.passUnretained(host)
  }

  var isClosed: Bool { openState.isClosed }

  /// Begins an operation; returns whether something is to be seen to first: a failure to report, a
  /// store that has been closed, or objects to let go of.
  func beginOperation() -> Bool {
    limit.begin()
    return failure != nil || isClosed || isSweepDue
  }

  /// Whether so many objects are kept that a look at which of them are used is worth its time.
  var isSweepDue: Bool { registry.needsSweep(besides: pending.count) }

  /// Makes the next change of each object go into a record of its own, as an edit of its own.
  func beginEpoch() { epoch &+= 2 }
}

/// What happens where a concurrent commit changed the same objects, as far as that is decided when
/// it is taken in.
enum ConcurrencyPolicy {
  /// The commit finds the conflict, and no new link is lost.
  case refuses
  /// Changes are put on top of the newer record at once.
  case mergesAtOnce
  /// The commit finds the conflict, and decides it.
  case mergesAtCommit
}

/// A failure of a call that cannot throw, which the next throwing operation reports.
struct DeferredFailure {
  let error: StoreError
  /// Whether it has been thrown. A commit goes on throwing it until the changes that may rest on it
  /// are rolled back.
  var isReported = false
  /// Whether changes may rest on what was read in its place.
  var blocksCommits = true
}
