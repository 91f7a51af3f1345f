internal import ArborModel
internal import ArborStore
internal import Foundation

/// The objects of a context, their changes since the last commit, and all reading of the store.
///
/// - ``registry``: the identity map, which keeps one object for each number;
/// - ``pending`` and ``links``: what the next commit writes, which is the sum of all edits since
///   the last one;
/// - ``log``: the ``Edit``s that a savepoint or undo may take back;
/// - ``classes``: how the objects of each entity are created.
///
/// Links are changed by ``InverseKeeper``, objects deleted by ``DeletePropagation``, commits of
/// other contexts and processes merged by ``mergeCommits(upTo:)`` and ``ChangeMerger``.
/// ``ConcurrencyPolicy`` says what happens where they changed the same objects.
///
/// It belongs to whatever runs its context.
package final class Session {
  /// The context that owns the session, and sets this when it creates it.
  unowned var context: ManagedObjectContext?
  let store: PersistentStore
  let engine: StoreEngine
  let schema: ModelSchema
  let registry = ObjectRegistry()
  /// How the objects of each entity are created and read.
  var classes: BoundClasses
  /// Ends the operation that runs at present before it is done.
  let limit = WorkLimit()
  /// Watches the queries; nil if nothing does.
  var watch: QueryWatch?
  /// The locale whose rules localized comparisons follow; nil for the process's locale.
  var locale: Locale?

  // MARK: Changes

  let pending: PendingObjects
  let links: PendingMemberships
  /// The memory of working records.
  let allocator = SlabAllocator()
  /// The last sequence given to an object that the store could not number.
  var unstorableSequence = ObjectNumber.maximumSequence
  /// Large binaries that are in no record.
  var blobs = UnstoredBlobs()
  /// Objects whose derived attributes the next commit computes although nothing of them changes.
  var recomputed: Set<ObjectNumber> = []
  /// The object whose own hook a commit is running: the rules of the model have been checked.
  var validated: ObjectNumber?

  // MARK: Edits

  /// The edits that a savepoint or undo may take back.
  let log = EditLog()
  var isInSavepoint = false
  /// Tells savepoints and undo groups apart: a working record may be written only in the one it was
  /// made in. Even; see ``PendingObject/readBit``.
  private(set) var epoch: UInt32 = 2
  /// Records edits for undo; nil if nothing does.
  var undo: UndoHistory? {
    didSet { if undo !== oldValue { UndoHistory.replace(oldValue, by: undo, in: self) } }
  }
  /// Notified of every edit.
  var listeners: [any ChangeListener] = []
  /// Whether listeners are being notified of one, so that nothing is in place yet.
  var isTellingListeners = false
  /// Notifies Swift's `Observation`; nil for contexts that are not observed.
  var observation: ObjectObservation?

  // MARK: Reading

  /// The snapshot that all reads use while one is pinned.
  var pinned: StoreSnapshot?
  /// Whether the pinned snapshot is a view of the program's, which the context's own commits
  /// advance.
  var isInView = false
  /// The members of relationships that were prefetched or read ahead.
  var memberships = MembershipCache()
  /// The relationship that is being read object by object. See ``readAhead(from:_:mostOfEach:)``.
  var traversal = Traversal()
  /// A failure of a call that cannot throw, which the next throwing operation reports.
  var failure: DeferredFailure?

  // MARK: Commits of others

  /// The policy for commits that meet newer commits of the same objects.
  var mergePolicy = MergePolicy.error
  /// Whether they are merged at the beginning of each operation.
  var mergesCommits = true
  /// The newest commit that has been merged.
  var sequence: UInt64
  /// The objects that were read again when commits were merged, whose hooks have yet to be called;
  /// nil if there are none.
  var reloaded: FetchedObjects?
  /// The objects whose values were known before the commits that are being merged.
  var outdated: [ObjectNumber] = []
  /// Own commits that the store may list after ``sequence``.
  var ownSequences: Set<UInt64> = []
  /// Objects that were read as later commits have left them, while listeners record changes.
  var readAhead: Set<ObjectNumber> = []
  /// Whether there were any beneath pending changes of links, so that the result of applying these
  /// to the stored links may be another one without them.
  var hasConcurrentLinks = false
  /// Links that were made here and have gone with what concurrent commits have deleted, by the ends
  /// that are still there, if the policy is to refuse that. They are left out of all relationships
  /// at once, so that no code meets an object that is not there, and stay changes which a commit
  /// cannot write.
  var lostLinks: Set<OwnedLink> = []
  /// Objects that have been merged and whose links may have to be mended. See ``mendLinks()``.
  var mendings: [LinkMending] = []

  /// Creates a session without objects or changes.
  init(_ store: PersistentStore) {
    self.store = store
    engine = store.engine
    schema = engine.schema
    classes = store.boundClasses
    watch = store.watch
    locale = store.locale
    sequence = engine.lastSequence
    pending = PendingObjects(entityCount: schema.entities.count)
    links = PendingMemberships(schema, pending)
  }

  deinit {
    // Objects may outlive the session; they must not find it.
    registry.forgetAll()
  }

  var isClosed: Bool { store.isClosed }

  /// Whether a commit would write anything, or is to be refused for what others have deleted.
  var hasChanges: Bool { pending.count > 0 || links.hasEdits || !lostLinks.isEmpty }

  func objectID(_ number: ObjectNumber) -> ObjectID { engine.objectID(number) }

  /// Makes the next change of each object go into a record of its own, as an edit of its own.
  func beginEpoch() { epoch &+= 2 }
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
