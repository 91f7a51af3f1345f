public import ArborExchange
public import ArborModel
public import ArborObjects
import Foundation

/// A store and one context on it, with methods for common operations.
///
/// Subclass it to add the operations of your domain:
///
/// ```swift
/// final class CorporateStore: DataManager {
///   func wellPaid(at company: ManagedObject) throws(ArborError) -> [ManagedObject] {
///     try fetch(requestNamed: "companyWellPaidEmployees", substituting: ["company": company])
///   }
/// }
/// let manager = try CorporateStore(modelNamed: "CorporateMayhem", in: modelsFolder)
/// try manager.seed(from: .file(folder.appending(path: "Main.seed.json")))
/// let company = try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")")
/// ```
///
/// A manager belongs to one thread or actor, like its ``context``. Its ``store`` can be used from
/// any thread. Every method sees the context's uncommitted changes. Nothing is written before
/// ``commit()``.
///
/// ## Topics
/// ### Opening
/// - ``init(modelNamed:in:alias:fileName:options:classes:delegate:group:)-(_,URL,_,_,_,_,_,_)``
/// - ``init(for:at:options:delegate:group:)-([ManagedObject.],_,_,_,_)``
/// - ``init(model:at:options:classes:delegate:group:)``
/// - ``init(store:delegate:group:)``
/// ### Objects
/// - ``insert(_:)-(String)``
/// - ``delete(_:)-([ManagedObject])``
/// - ``deleteAll()``
/// - ``seed(from:options:)-([JSONSource],_)``
/// - ``uniqueID()``
/// ### Fetching
/// - ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])``
/// - ``fetchOne(_:matching:sortedBy:)-(String,_,[SortKey])``
/// - ``count(_:matching:)-(String,_)``
/// - ``fetchRequest(named:substituting:)``
/// ### Committing
/// - ``commit()``
/// - ``rollback()``
/// - ``flush()``
/// - ``commitInBackground(_:)``
/// - ``purge()``
/// ### Undoing
/// - ``undo()``
/// - ``redo()``
/// - ``beginUndoGroup()``
/// - ``endUndoGroup()``
/// - ``undoGroup()``
/// - ``redoGroup()``
nonisolated open class DataManager {
  /// The store.
  public let store: PersistentStore
  /// The context used by all methods. Its merge policy resolves conflicts in favor of the context's
  /// objects.
  public let context: ManagedObjectContext
  /// The delegate, which is notified of changes.
  public weak var delegate: (any DataManagerDelegate)? {
    didSet { if delegate != nil { beginRound() } }
  }
  /// The group of managers that are committed together with this one.
  public let group: DataManagerGroup?
  /// The changes the delegate was notified of at the start of the current commit.
  private var told = ChangeRound()
  /// The recorder of changes for the delegate. `nil` until a delegate has been set.
  private var recorder: RoundRecorder?

  /// Creates a manager for an open store.
  ///
  /// - Parameters:
  ///   - store: The store, which other managers and contexts may share.
  ///   - delegate: The delegate to notify of changes. Held weakly.
  ///   - group: The group to join.
  public init(
    store: PersistentStore, delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) {
    self.store = store
    self.group = group
    context = store.makeContext()
    context.mergePolicy = .mergeByPropertyObjectWins
    self.delegate = delegate
    if delegate != nil { beginRound() }
    group?.add(self)
    if delegate?.dataManagerSupportsUndo(self) ?? true {
      context.undoHistory = UndoHistory(
        levelLimit: Self.undoLevels, byteLimit: Self.undoBytes)
    }
  }

  /// The default maximum number of undo groups. It can be changed on the context's undo history.
  private static let undoLevels = 1000
  /// The default maximum number of bytes that undo groups hold, which can be changed, too.
  private static let undoBytes = 256 << 20

  // MARK: Objects

  /// Inserts an object of an entity, initialized with its attributes' default values.
  ///
  /// - Throws: ``ArborError`` `unknownName` if the model has no such entity.
  @discardableResult
  open func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
    try context.insert(entityName)
  }

  /// Inserts an object of a class, initialized with its attributes' default values. If the store
  /// reports an error, the next throwing method throws it.
  ///
  /// - Precondition: The class describes a concrete entity of the store's model.
  @discardableResult
  open func insert<T: ManagedObject>(_ type: T.Type) -> T {
    context.insert(type)
  }

  /// Deletes objects and applies their relationships' delete rules immediately.
  open func delete(_ objects: [ManagedObject]) {
    for object in objects { context.delete(object) }
  }

  /// Deletes all objects of all entities. The deletions are pending until the next commit.
  ///
  /// - Throws: ``ArborError`` if the store cannot be read.
  open func deleteAll() throws(ArborError) {
    for entity in store.model.entities where entity.parent == nil {
      for object in try fetchAll(entity.name) { context.delete(object) }
    }
  }

  /// Creates the objects described by the given documents and the documents they link to, all or
  /// none of them. Nothing is committed.
  ///
  /// - Throws: ``ArborError`` with source, line, column and path. The context is unchanged.
  @discardableResult
  open func seed(
    from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try context.seed(from: sources, options: options)
  }

  /// Seeds the store once in its lifetime. The objects and the marker are written in one commit.
  ///
  /// The context's uncommitted changes are neither visible to the seeding nor committed by it.
  ///
  /// - Parameters:
  ///   - name: The name of the marker. Seeding with a different name seeds the store again.
  ///   - sources: The documents.
  ///   - options: The locations that documents may link to, and limits on their total size.
  /// - Returns: A report of the created objects, or `nil` if the store was seeded before.
  /// - Throws: ``ArborError`` with source, line, column and path, or the errors of ``commit()``.
  ///   The store is unchanged.
  @discardableResult
  open func seedOnce(
    _ name: String, from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try context.seedOnce(name, from: sources, options: options)
  }

  /// Returns a number that this store has never returned before: 1, 2, 3 …, with gaps.
  ///
  /// - Throws: ``ArborError`` if a new block of numbers cannot be reserved in the store.
  open func uniqueID() throws(ArborError) -> Int64 { try store.uniqueIDs.next() }

  // MARK: Fetching

  /// Returns the objects of an entity and its subentities that match a predicate, sorted.
  ///
  /// - Throws: ``ArborError`` if a name is unknown, the predicate does not fit the entity, or the
  ///   store cannot be read.
  open func fetchAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> [ManagedObject] {
    try context.fetch(entityName, matching: predicate, sortedBy: keys)
  }

  /// Returns the objects of a class that match a predicate, sorted.
  ///
  /// - Throws: The same errors as the overload that takes an entity name.
  open func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try context.fetch(type, matching: predicate, sortedBy: keys)
  }

  /// Returns the first object of an entity or its subentities that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])``.
  open func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> ManagedObject? {
    try context.fetchOne(entityName, matching: predicate, sortedBy: keys)
  }

  /// Returns the first object of a class that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as the overload that takes an entity name.
  open func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> T? {
    try context.fetchOne(type, matching: predicate, sortedBy: keys)
  }

  /// Returns the number of objects of an entity and its subentities that match a predicate.
  ///
  /// - Throws: The same errors as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])``.
  open func count(_ entityName: String, matching predicate: FetchPredicate? = nil)
    throws(ArborError) -> Int
  {
    try context.count(entityName, matching: predicate)
  }

  /// Returns the number of objects of a class that match a predicate.
  ///
  /// - Throws: The same errors as the overload that takes an entity name.
  open func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try context.count(type, matching: predicate)
  }

  /// Returns the results of a request.
  ///
  /// - Throws: The same errors as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])``.
  open func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try context.fetch(request)
  }

  // MARK: Named requests

  /// Returns a modifiable copy of one of the model's named requests.
  ///
  /// - Parameters:
  ///   - name: The request's name in the model.
  ///   - variables: The values to substitute for the `$variable`s of its predicate.
  /// - Throws: ``ArborError`` `unknownName` if the model has no request of that name, or
  ///   `invalidPredicate` if a variable has no value.
  open func fetchRequest(
    named name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    try store.fetchRequest(named: name, substituting: variables)
  }

  /// Returns the results of a named request.
  ///
  /// - Throws: The same errors as ``fetchRequest(named:substituting:)`` and ``fetch(_:)``.
  open func fetch(
    requestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> [ManagedObject] {
    try fetch(fetchRequest(named: name, substituting: variables))
  }

  /// Returns the first result of a named request, or `nil`.
  ///
  /// - Throws: The same errors as ``fetchRequest(named:substituting:)`` and ``fetch(_:)``.
  open func fetchOne(
    requestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> ManagedObject? {
    try context.fetchOne(fetchRequest(named: name, substituting: variables))
  }

  /// Returns the number of results of a named request.
  ///
  /// - Throws: The same errors as ``fetchRequest(named:substituting:)`` and ``fetch(_:)``.
  open func count(
    forRequestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> Int {
    try context.count(fetchRequest(named: name, substituting: variables))
  }

  // MARK: Committing

  /// Validates all pending changes and writes them in one transaction, or throws and changes
  /// nothing.
  ///
  /// Ends the current round of changes before writing. Changes made by commit hooks and by merging
  /// other commits form a separate round.
  ///
  /// - Throws: ``ArborError`` with every violation, or with the reason why the store cannot be
  ///   written.
  open func commit() throws(ArborError) {
    told = ChangeRound()
    defer { told = ChangeRound() }
    processPendingChanges()
    try context.commit()
    guard delegate != nil else { return }
    var round = recorder?.takeRound() ?? ChangeRound()
    round.updated.subtract(told.created.union(told.updated))
    tell(round)
  }

  /// Discards all pending changes and ends the round without notifying the delegate.
  open func rollback() {
    context.rollback()
    if delegate != nil { beginRound() }
  }

  /// Commits all managers of this manager's group, or only this manager if it has no group.
  ///
  /// - Throws: The same errors as ``commit()`` and ``DataManagerGroup/commitAll()``.
  open func flush() throws(ArborError) {
    if let group { try group.commitAll() } else { try commit() }
  }

  /// Erases all objects of the store in one transaction and discards all pending changes.
  ///
  /// The manager, its context and their observers remain usable. Unique IDs are not reset.
  ///
  /// - Throws: ``ArborError`` if the store cannot be written.
  open func purge() throws(ArborError) {
    try store.purge()
    context.reset()
    if delegate != nil { beginRound() }
  }

  /// Runs a closure in the store's background context and commits its changes. When the method
  /// returns, they are merged into this manager's context.
  ///
  /// - Returns: The closure's result. Return object IDs instead of objects, which cannot leave the
  ///   background context.
  /// - Throws: Any error thrown by the closure, and the errors of ``commit()``.
  @discardableResult
  open func commitInBackground<R: Sendable>(
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    let result = try await store.performBackground(body)
    try context.mergeExternalCommits()
    processPendingChanges()
    return result
  }

  // MARK: Undoing

  /// Undoes the most recent undo group, even if it has been committed since. Does nothing if there
  /// isn't one. Ends a round of changes that includes the undone changes.
  ///
  /// An undo group consists of the changes of one round, up to ``commit()``, ``undo()``, ``redo()``
  /// or ``processPendingChanges()``: a single undo reverts the insertion of an object together with
  /// the values set on it. Use ``beginUndoGroup()`` to define a separate group. See
  /// ``UndoHistory/undo()``.
  open func undo() { round { context.undoHistory?.undo() } }

  /// Redoes the most recently undone group. Does nothing if other changes have been made since.
  /// Ends a round of changes that includes the redone changes.
  open func redo() { round { context.undoHistory?.redo() } }

  /// Begins an undo group. Changes up to ``endUndoGroup()`` are undone together.
  open func beginUndoGroup() { context.undoHistory?.beginGroup() }

  /// Ends the innermost open undo group.
  ///
  /// - Precondition: A group is open.
  open func endUndoGroup() { context.undoHistory?.endGroup() }

  /// Undoes the last group nested in the open undo group, or the last group if none is open. Ends a
  /// round of changes.
  open func undoGroup() { round { context.undoHistory?.undoGroup() } }

  /// Redoes the most recently undone group, within the open undo group if there is one. Ends a
  /// round of changes.
  open func redoGroup() { round { context.undoHistory?.redoGroup() } }

  /// Closes the round's undo group, runs `body`, and ends the round.
  private func round(_ body: () -> Void) {
    context.undoHistory?.closeGroup()
    body()
    processPendingChanges()
  }

  /// Ends a round of changes: closes its undo group, unless an explicit group is open, and notifies
  /// the delegate of the changes since its last notification.
  ///
  /// A program with a run loop calls it once per event. ``commit()``, ``undo()`` and ``redo()``
  /// call it themselves.
  open func processPendingChanges() {
    context.undoHistory?.closeGroup()
    guard delegate != nil else { return }
    told = recorder?.takeRound() ?? ChangeRound()
    tell(told)
  }

  private func beginRound() {
    if let recorder { recorder.beginRound() } else { recorder = RoundRecorder(context) }
  }

  private func tell(_ round: ChangeRound) {
    guard !round.isEmpty else { return }
    delegate?.dataManager(
      self, created: round.created, updated: round.updated, deleted: round.deleted)
  }
}

@available(*, unavailable, message: "A manager belongs to its context. Pass its store instead.")
extension DataManager: Sendable {}
