internal import ArborModel
internal import ArborStore
internal import Foundation

/// A scratch pad of objects over a store: one object per ID, with changes that wait for a commit.
///
/// A context, its objects and everything reached from them belong to what runs it — one task,
/// actor or thread — and never cross to another; object IDs, requests, predicates and stores do.
/// ``PersistentStore/makeContext()`` hands one out, ``PersistentStore/perform(retries:_:)`` and
/// ``PersistentStore/performBackground(retries:_:)`` run a body in one.
///
/// ```swift
/// let context = store.makeContext()
/// let employee = context.insert(Employee.self)
/// employee.name = "Mary"
/// let namesakes = try context.fetch(Employee.self, matching: "name == \("Mary")")
/// try context.commit()
/// ```
///
/// Every fetch, count and look-up sees the context's own uncommitted changes. Commits of other
/// contexts and processes are taken in at the beginning of each operation — a fetch, count, insert,
/// delete, commit or refresh — and by ``takeInCommits()``; reading a property is none.
///
/// A context keeps the objects that somebody else refers to or that have changes; others it lets go
/// from time to time. It keeps its store open.
///
/// ## Topics
/// ### Objects
/// - ``insert(_:)-(String)``
/// - ``object(with:)``
/// - ``existingObject(with:)``
/// - ``delete(_:)``
/// - ``insertOrFetch(_:where:)-(String,_)``
/// - ``upsert(_:_:)-(String,_)``
/// - ``refresh(_:mergeChanges:)``
/// ### Fetching
/// - ``fetch(_:)``
/// - ``fetchOne(_:)``
/// - ``count(_:)``
/// - ``fetchIDs(_:)``
/// - ``explain(_:analyze:)``
/// - ``objects(_:)-(String)``
/// - ``objects(with:)``
/// - ``aggregate(_:_:)``
/// - ``fetchRows(_:)``
/// - ``fetchPage(_:)``
/// - ``fetchWindow(_:)``
/// - ``fetchedResults(_:sectionedBy:)``
/// - ``cursor(for:)``
/// ### Changes
/// - ``isObservable``
/// - ``hasChanges``
/// - ``insertedObjects``
/// - ``updatedObjects``
/// - ``deletedObjects``
/// - ``commit()``
/// - ``validate()``
/// - ``rollback()``
/// - ``reset()``
/// - ``mergePolicy``
/// - ``takeInCommits()``
/// - ``undoHistory``
/// - ``withUndoGroup(named:_:)``
public final class ManagedObjectContext {
  /// The store the objects live in.
  public let store: PersistentStore
  /// A name for the history of commits, to tell contexts apart.
  public var name: String?
  /// Who makes the changes, for the history of commits.
  public var author: String?
  /// What happens when a commit meets a newer commit of the same objects.
  public var mergePolicy = MergePolicy.error {
    didSet { work.policy = mergePolicy.concurrencyPolicy }
  }
  /// Whether commits of others are taken in at the beginning of each operation. Otherwise objects
  /// keep the values they hold until they are refreshed, ``takeInCommits()`` is called, or they are
  /// changed from the other end of a link that others have made or moved.
  public var automaticallyMergesCommits: Bool {
    get { work.takesInCommits }
    set { work.takesInCommits = newValue }
  }
  /// When the context's operations have to be done; nil, the default, for as long as they take.
  ///
  /// A fetch, a count or any other operation that is not done by then throws
  /// ``ArborError`` `deadlineExceeded` within milliseconds, as does one that begins later. Single
  /// requests have ``FetchRequest/timeLimit``.
  public var deadline: ContinuousClock.Instant? {
    get { work.limit.deadline }
    set { work.limit.deadline = newValue }
  }
  /// What records the changes, so that they can be taken back; nil, the default, for none.
  ///
  /// - Precondition: A history belongs to one context.
  public var undoHistory: UndoHistory? {
    didSet {
      if undoHistory !== oldValue { UndoStack.attach(undoHistory?.stack, to: work) }
    }
  }

  /// What waits for a commit, over what the store has.
  let work: Workspace
  /// What answers its requests and makes its live objects.
  package let reader: ObjectReader
  /// Whether a commit has been written, in this run of a body where one runs.
  var hasCommitted = false
  /// Objects whose derived attributes the next commit computes although nothing of them changes.
  var derivedAnew: Set<ObjectNumber> = []
  /// What Swift's `Observation` is told; nil where nobody wants to know. See ``isObservable``.
  var observation: ObjectObservation?
  /// Large binaries outside of their records.
  private(set) lazy var blobs = BlobKeeper(self)
  /// The object whose own hook a commit is running: the rules of the model have been checked.
  var validated: ObjectNumber?

  init(_ store: PersistentStore) {
    self.store = store
    work = Workspace(store.file, store.openState)
    work.locale = store.locale
    reader = ObjectReader(work, store.boundClasses)
    reader.attach(to: self)
    work.attach(reader)
    work.watch = store.watch
  }

  func objectID(_ number: ObjectNumber) -> ObjectID { store.file.objectID(number) }

  /// Whether a commit would write anything, or is to be refused for what others have deleted.
  public var hasChanges: Bool {
    work.pending.count > 0 || work.links.hasEdits || !work.lostLinks.isEmpty
  }

  /// The objects that wait for their first commit.
  public var insertedObjects: Set<ManagedObject> {
    Set(work.pending.objects { $0.kind == .inserted }.live)
  }

  /// The committed objects whose properties, or members of whose relationships, have changes that
  /// wait for a commit.
  public var updatedObjects: Set<ManagedObject> {
    let changed = work.pending.objects { $0.kind == .updated && !$0.isQuiet }
    return Set((changed + work.ownersOfLinks()).live)
  }

  /// The objects whose deletion waits for a commit.
  public var deletedObjects: Set<ManagedObject> {
    Set(work.pending.objects { $0.kind == .deleted }.live)
  }

  /// All objects that the context keeps at present.
  public var registeredObjects: Set<ManagedObject> { Set(work.registry.objects.live) }
}

@available(*, unavailable, message: "A context stays where it is; use PersistentStore.perform.")
extension ManagedObjectContext: Sendable {}
