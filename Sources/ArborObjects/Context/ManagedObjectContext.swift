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
/// delete, commit or refresh — and by ``mergeExternalCommits()``; reading a property is none.
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
/// - ``upsert(_:matching:values:)-(String,_,_)``
/// - ``refresh(_:mergeChanges:)``
/// ### Fetching
/// - ``fetch(_:)``
/// - ``fetchOne(_:)``
/// - ``count(_:)``
/// - ``fetchIDs(_:)``
/// - ``explain(_:analyze:)``
/// - ``objects(_:)-(String)``
/// - ``objects(with:)``
/// - ``fetchRows(_:)``
/// - ``fetchPage(_:after:)``
/// - ``fetchedResults(_:sectionedBy:)-(_,String?)``
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
/// - ``mergeExternalCommits()``
/// - ``undoHistory``
/// - ``undo()``
/// - ``redo()``
public final class ManagedObjectContext {
  /// The store the objects live in.
  public let store: PersistentStore
  /// A name for the history of commits, to tell contexts apart.
  public var name: String?
  /// Who makes the changes, for the history of commits.
  public var author: String?
  /// What happens when a commit meets a newer commit of the same objects.
  public var mergePolicy: MergePolicy {
    get { session.mergePolicy }
    set { session.mergePolicy = newValue }
  }
  /// Whether commits of others are taken in at the beginning of each operation. Otherwise objects
  /// keep the values they hold until they are refreshed, ``mergeExternalCommits()`` is called, or they are
  /// changed from the other end of a link that others have made or moved.
  public var automaticallyMergesCommits: Bool {
    get { session.mergesCommits }
    set { session.mergesCommits = newValue }
  }
  /// When the context's operations have to be done; nil, the default, for as long as they take.
  ///
  /// A fetch, a count or any other operation that is not done by then throws
  /// ``ArborError`` `deadlineExceeded` within milliseconds, as does one that begins later. Single
  /// requests have ``FetchRequest/timeLimit``.
  public var deadline: ContinuousClock.Instant? {
    get { session.limit.deadline }
    set { session.limit.deadline = newValue }
  }
  /// What records the changes, so that they can be taken back; nil, the default, for none.
  ///
  /// - Precondition: A history belongs to one context.
  public var undoHistory: UndoHistory? {
    get { session.undo }
    set { session.undo = newValue }
  }

  /// The objects, their changes and all reading of the store.
  package let session: Session
  /// Whether a commit has been written, in this run of a body where one runs.
  var hasCommitted = false

  init(_ store: PersistentStore) {
    self.store = store
    session = Session(store)
    session.context = self
  }

  /// Whether a commit would write anything, or is to be refused for what others have deleted.
  public var hasChanges: Bool { session.hasChanges }

  /// The objects that wait for their first commit.
  public var insertedObjects: Set<ManagedObject> {
    Set(session.pending.objects { $0.kind == .inserted })
  }

  /// The committed objects whose properties, or members of whose relationships, have changes that
  /// wait for a commit.
  public var updatedObjects: Set<ManagedObject> {
    let changed = session.pending.objects { $0.kind == .updated && !$0.isQuiet }
    return Set((changed + session.ownersOfLinks()))
  }

  /// The objects whose deletion waits for a commit.
  public var deletedObjects: Set<ManagedObject> {
    Set(session.pending.objects { $0.kind == .deleted })
  }

  /// All objects that the context keeps at present.
  public var registeredObjects: Set<ManagedObject> { Set(session.registry.objects) }
}

@available(*, unavailable, message: "A context stays where it is; use PersistentStore.perform.")
extension ManagedObjectContext: Sendable {}
