internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The unit of work of a context: its objects, their changes since the last commit, and all access
/// to the store.
///
/// - ``registry``: The identity map, with one object per number.
/// - ``pending`` and ``links``: The changes that the next commit writes, which are the sum of all
///   edits since the last one.
/// - ``log``: The ``Edit``s that a savepoint or undo may revert.
/// - ``classes``: The bindings that create the objects of each entity.
///
/// Links are changed by ``InverseKeeper``, objects are deleted by ``DeletePropagation``, and
/// commits of other contexts and processes are merged by ``mergeCommits(upTo:)`` and
/// ``ChangeMerger``. ``ConcurrencyPolicy`` determines the treatment of objects changed by both
/// sides.
///
/// A session belongs to the thread or actor of its context.
package final class Session {
  /// The context that owns the session, set when the context is created.
  unowned var context: ManagedObjectContext?
  let store: PersistentStore
  let engine: StoreEngine
  let schema: ModelSchema
  let registry = ObjectRegistry()
  /// The bindings that create and read the objects of each entity.
  var classes: SessionClasses
  /// The limits that can interrupt the current operation.
  let limit = WorkLimit()
  /// The observer of queries, or `nil`.
  var watch: QueryWatch?
  /// The locale of localized comparisons, or `nil` for the process's locale.
  var locale: Locale?

  // MARK: Changes

  let pending: PendingObjects
  let links: PendingMemberships
  /// The allocator for records held in memory.
  let allocator = SlabAllocator()
  /// The next sequence to assign to an object that the store cannot number. Counts down.
  var unstorableSequence = ObjectNumber.maximumSequence
  /// Large binary values that are neither in records nor in the store.
  var blobs = UnstoredBlobs()
  /// Objects whose derived attributes the next commit recomputes even if they are unchanged.
  var recomputed: Set<ObjectNumber> = []
  /// The derived values that objects show while validation hooks run, or `nil`.
  var previews: DerivedPreviews?
  /// The object whose hook a commit is running, or `nil`. Its model rules have already been
  /// checked.
  var validated: ObjectNumber?

  // MARK: Edits

  /// The edits that a savepoint or undo may revert.
  let log = EditLog()
  var isInSavepoint = false
  /// The number of the current savepoint or undo group: a working record may be written only in the
  /// epoch in which it was created. Always even; see ``PendingObject/readBit``.
  private(set) var epoch: UInt32 = 2
  /// The undo history that records edits, or `nil`.
  var undo: UndoHistory? {
    didSet { if undo !== oldValue { UndoHistory.replace(oldValue, by: undo, in: self) } }
  }
  /// The listeners that are notified of every edit.
  var listeners: [any ChangeListener] = []
  /// Whether listeners are being notified of an edit that isn't complete yet.
  var isNotifyingListeners = false
  /// The bridge to Swift's `Observation`, or `nil` if the context isn't observed.
  var observation: ObjectObservation?

  // MARK: Reading

  /// The pinned snapshot, which all reads use, or `nil` if none is pinned.
  var pinned: StoreSnapshot?
  /// Whether the pinned snapshot was requested by the program through `withSnapshot` and is
  /// advanced by the context's own commits.
  var isInView = false
  /// The members of relationships that were prefetched or read ahead.
  var memberships = MembershipCache()
  /// The values that were decoded from JSON attributes.
  let decoded = DecodedValues()
  /// The sets of members that programs are changing in place.
  var hashed: [HashedObjects] = []
  /// The relationship being traversed object by object. See
  /// ``readAhead(from:_:maximumMembersPerOwner:)``.
  var traversal = Traversal()
  /// The failure of a nonthrowing call that the next throwing operation reports, or `nil`.
  var failure: DeferredFailure?

  // MARK: Concurrent commits

  /// The policy for commits that conflict with newer commits of the same objects.
  var mergePolicy = MergePolicy.error
  /// The policies of entities for insertions with the unique value of another object, by name.
  var uniquenessPolicies: [String: MergePolicy] = [:]
  /// The inserted objects that the commit in progress has merged into others.
  var mergedObjects: [(inserted: ManagedObject, survivor: ObjectNumber)] = []
  /// Whether other commits are merged at the beginning of each operation.
  var mergesCommits = true
  /// The sequence of the newest commit that has been merged.
  var sequence: UInt64
  /// The objects that were reloaded while merging commits and whose hooks have yet to be called, or
  /// `nil` if there are none.
  var reloaded: FetchedObjects?
  /// The objects that were loaded before the commits being merged.
  var outdated: [ObjectNumber] = []
  /// The sequences of the context's own commits that may follow ``sequence`` in the history.
  var ownSequences: Set<UInt64> = []
  /// Objects loaded in a newer state than ``sequence`` while listeners record changes. See
  /// ``noteRead(_:on:)``.
  var readNewer: Set<ObjectNumber> = []
  /// Whether concurrent commits changed links that also have pending changes, so that applying the
  /// pending changes may now have a different result.
  var hasConcurrentLinks = false
  /// Links created in this context that were lost because concurrent commits deleted one end, as
  /// seen from the remaining end. Recorded only if the policy refuses such commits. They are
  /// removed from all relationships at once, so that no code accesses a missing object, but remain
  /// pending changes that prevent a commit.
  var lostLinks: Set<OwnedLink> = []
  /// References of objects whose deletion a merge has reverted to others that this context still
  /// deletes. They are older than the deletions, so they don't conflict with them. The commit sets them
  /// to `nil`.
  var restoredLinks: Set<OwnedLink> = []
  /// Merged objects whose links may have to be repaired. See ``mendLinks()``.
  var mendings: [LinkMending] = []

  init(_ store: PersistentStore) {
    self.store = store
    engine = store.engine
    schema = engine.schema
    classes = SessionClasses(store.boundClasses)
    watch = store.watch
    locale = store.locale
    sequence = engine.lastSequence
    pending = PendingObjects(entityCount: schema.entities.count)
    links = PendingMemberships(schema, pending)
  }

  deinit {
    // Objects may outlive the session and must not access it.
    registry.forgetAll()
  }

  var isClosed: Bool { store.isClosed }

  /// Whether anything has been changed, possibly back to its committed state.
  var hasEdits: Bool { pending.count > 0 || links.hasEdits || !lostLinks.isEmpty }

  /// Whether a commit would write anything, or would be refused because of objects that other
  /// commits have deleted. Takes time that grows with the number of objects that were changed back.
  var hasChanges: Bool {
    links.hasEdits || !lostLinks.isEmpty || pending.contains(where: \.isEffective)
  }

  func objectID(_ number: ObjectNumber) -> ObjectID { engine.objectID(number) }

  /// Causes the next change of each object to be recorded as a separate edit with a record of its
  /// own.
  func beginEpoch() { epoch &+= 2 }
}

/// A failure of a nonthrowing call, reported by the next throwing operation.
struct DeferredFailure {
  let error: StoreError
  /// Whether the failure has been thrown. Commits continue to throw it until the changes that may
  /// depend on it are rolled back.
  var isReported = false
  /// Whether changes may depend on the default value returned for the failed read.
  var blocksCommits = true
}
