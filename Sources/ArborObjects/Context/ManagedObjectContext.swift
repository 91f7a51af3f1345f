internal import ArborFoundation
public import ArborModel
internal import ArborStore

/// A workspace for objects of a store. It holds one object per ID, and changes that are pending
/// until a commit.
///
/// A context, its objects and everything reached from them belong to one task, actor or thread and
/// must not be passed to another. Object IDs, requests, predicates and stores can be passed. Create
/// a context with ``PersistentStore/makeContext()``, or run a closure in one with
/// ``PersistentStore/perform(deadline:maximumRetries:_:)`` or
/// ``PersistentStore/performBackground(deadline:maximumRetries:_:)``.
///
/// ```swift
/// let context = store.makeContext()
/// let employee = context.insert(Employee.self)
/// employee.name = "Mary"
/// let namesakes = try context.fetch(Employee.self, matching: "name == \("Mary")")
/// try context.commit()
/// ```
///
/// Every fetch, count and lookup sees the context's own uncommitted changes. Commits of other
/// contexts and processes are merged at the start of each operation — a fetch, count, insert,
/// delete, commit or refresh — and by ``mergeExternalCommits()``. Reading a property is not an
/// operation.
///
/// A context retains objects with changes. Other objects are released from time to time unless they
/// are referenced elsewhere. A context keeps its store open.
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
/// - ``mergedObjects``
/// - ``objects(mergedInto:)``
/// - ``validate()``
/// - ``rollback()``
/// - ``rollback(_:)``
/// - ``reset()``
/// - ``mergePolicy``
/// - ``uniquenessPolicies``
/// - ``mergeExternalCommits()``
/// - ``undoHistory``
/// - ``undo()``
/// - ``redo()``
public final class ManagedObjectContext {
  /// The store that contains the objects.
  public let store: PersistentStore
  /// A name that identifies the context in the commit history.
  public var name: String?
  /// The author of the context's changes, recorded in the commit history.
  public var author: String?
  /// The policy for commits that conflict with newer commits of the same objects.
  public var mergePolicy: MergePolicy {
    get { session.mergePolicy }
    set { session.mergePolicy = newValue }
  }
  /// The policies for insertions of objects with the unique value of another object, by the name of
  /// their entity. They apply to its subentities, too. Entities without one use ``mergePolicy``.
  ///
  /// ```swift
  /// // Never merge two invoices with the same number.
  /// context.uniquenessPolicies["Invoice"] = .error
  /// ```
  ///
  /// - Precondition: The model has entities with these names.
  public var uniquenessPolicies: [String: MergePolicy] {
    get { session.uniquenessPolicies }
    set {
      for name in newValue.keys where session.schema.entity(named: name) == nil {
        stopProgram("uniquenessPolicies contains \(name), but the model has no such entity.")
      }
      session.uniquenessPolicies = newValue
    }
  }
  /// The inserted objects that the last commit merged into other objects with the same unique value,
  /// and the IDs of those objects, which remain. Empty if it failed.
  ///
  /// The instances of the inserted objects no longer belong to the context. See ``MergePolicy``.
  ///
  /// ```swift
  /// try context.commit()
  /// if let id = context.mergedObjects[country.objectID] {
  ///   country = try context.object(with: id)
  /// }
  /// ```
  public internal(set) var mergedObjects: [ObjectID: ObjectID] = [:]
  /// A Boolean value that indicates whether other commits are merged at the start of each
  /// operation. Defaults to `true`.
  ///
  /// Otherwise objects keep their values until they are refreshed, ``mergeExternalCommits()`` is
  /// called, or they are changed through the other end of a link that another commit has created or
  /// moved.
  public var automaticallyMergesCommits: Bool {
    get { session.mergesCommits }
    set { session.mergesCommits = newValue }
  }
  /// The deadline of the context's operations, or `nil`, the default, for none.
  ///
  /// A fetch, count or other operation that doesn't finish in time throws ``ArborError``
  /// `deadlineExceeded` within milliseconds, as does one that starts later. To limit a single
  /// request, use ``FetchRequest/timeLimit``.
  public var deadline: ContinuousClock.Instant? {
    get { session.limit.deadline }
    set { session.limit.deadline = newValue }
  }
  /// The history that records changes for undo, or `nil`, the default, for none.
  ///
  /// - Precondition: The history isn't used by another context.
  public var undoHistory: UndoHistory? {
    get { session.undo }
    set { session.undo = newValue }
  }

  /// The session, which manages objects, changes and access to the store.
  package let session: Session
  /// Whether a commit has been written, within the current run of a `perform` body if there is one.
  var hasCommitted = false

  init(_ store: PersistentStore) {
    self.store = store
    session = Session(store)
    session.context = self
  }

  /// A Boolean value that indicates whether a commit would write anything, or would be refused
  /// because of objects that other commits have deleted.
  public var hasChanges: Bool {
    session.observation?.accessContext(self)
    return session.hasChanges
  }

  /// The objects with pending insertions.
  public var insertedObjects: Set<ManagedObject> {
    Set(session.pending.objects { $0.kind == .inserted })
  }

  /// The committed objects with pending changes of properties or of relationship members. Objects that
  /// were changed back to their committed values are not included.
  public var updatedObjects: Set<ManagedObject> {
    let changed = session.pending.objects { change in
      change.kind == .updated && !change.isQuiet
        && (change.isEffective || session.links.hasEdits(of: change.object))
    }
    return Set((changed + session.ownersOfLinks()))
  }

  /// The objects with pending deletions.
  public var deletedObjects: Set<ManagedObject> {
    Set(session.pending.objects { $0.kind == .deleted })
  }

  /// All objects that the context currently holds.
  public var registeredObjects: Set<ManagedObject> { Set(session.registry.objects) }
}

@available(*, unavailable, message: "Contexts cannot be shared. Use PersistentStore.perform.")
extension ManagedObjectContext: Sendable {}
