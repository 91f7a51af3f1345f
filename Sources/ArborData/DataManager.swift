public import ArborExchange
public import ArborModel
public import ArborObjects
import Foundation

/// A store and one context on it, with the verbs of daily work.
///
/// Subclass it to speak the words of your domain:
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
/// A manager belongs to one thread or actor, as its ``context`` does; its ``store`` may be used
/// from any. Every verb sees the context's uncommitted changes. Nothing is written before
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
  /// The context that all verbs work in; its merge policy lets the changes of its objects win.
  public let context: ManagedObjectContext
  /// Who is told of changes.
  public weak var delegate: (any DataManagerDelegate)? {
    didSet { if delegate != nil { beginRound() } }
  }
  /// The managers that are committed together with this one.
  public let group: DataManagerGroup?
  /// What the delegate was told of at the beginning of the commit under way.
  private var told = ChangeRound()
  /// What records the changes that the delegate is told of; nil until there has been one.
  private var recorder: RoundRecorder?

  /// Makes a manager on an open store.
  ///
  /// - Parameters:
  ///   - store: The store, which other managers and contexts may share.
  ///   - delegate: Who is told of changes; not kept alive.
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
      context.undoHistory = UndoHistory(levelLimit: Self.undoLevels)
    }
  }

  /// How many groups a manager can undo unless the application asks its history for more.
  private static let undoLevels = 1000

  // MARK: Objects

  /// Inserts an object of an entity, with the defaults of its attributes.
  ///
  /// - Throws: ``ArborError`` `unknownName` for an entity that the model does not know.
  @discardableResult
  open func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
    try context.insert(entityName)
  }

  /// Inserts an object of a class, with the defaults of its attributes. What the store reports, the
  /// next throwing verb throws.
  ///
  /// - Precondition: The class describes a concrete entity of the store's model.
  @discardableResult
  open func insert<T: ManagedObject>(_ type: T.Type) -> T {
    context.insert(type)
  }

  /// Deletes objects; their relationships' delete rules act at once.
  open func delete(_ objects: [ManagedObject]) {
    for object in objects { context.delete(object) }
  }

  /// Deletes all objects of all entities, pending until the next commit.
  ///
  /// - Throws: ``ArborError`` where the store cannot be read.
  open func deleteAll() throws(ArborError) {
    for entity in store.model.entities where entity.parent == nil {
      for object in try fetchAll(entity.name) { context.delete(object) }
    }
  }

  /// Creates the objects that documents and the documents they link to describe, all or none of
  /// them. Nothing is committed.
  ///
  /// - Throws: ``ArborError`` with source, line, column and path; the context is then as it was.
  @discardableResult
  open func seed(
    from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try context.seed(from: sources, options: options)
  }

  /// Seeds the store once in its life: documents and the mark that they were read are one commit.
  ///
  /// The context's uncommitted changes are neither seen nor committed.
  ///
  /// - Parameters:
  ///   - name: The name of the mark; another name seeds again.
  ///   - sources: The documents.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created; nil where the store was seeded before.
  /// - Throws: ``ArborError`` with source, line, column and path, or as ``commit()`` does; the
  ///   store is then as it was.
  @discardableResult
  open func seedOnce(
    _ name: String, from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try context.seedOnce(name, from: sources, options: options)
  }

  /// Draws a number that this store has never given before, 1, 2, 3 … with gaps.
  ///
  /// - Throws: ``ArborError`` where a new block of numbers cannot be reserved in the store.
  open func uniqueID() throws(ArborError) -> Int64 { try store.uniqueIDs.next() }

  // MARK: Fetching

  /// The objects of an entity, and of its subentities, that match a predicate, in order.
  ///
  /// - Throws: ``ArborError`` where a name is unknown, the predicate does not fit the entity, or
  ///   the store cannot be read.
  open func fetchAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> [ManagedObject] {
    try context.fetch(entityName, matching: predicate, sortedBy: keys)
  }

  /// The objects of a class that match a predicate, in order.
  ///
  /// - Throws: ``ArborError`` as for an entity's name.
  open func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try context.fetch(type, matching: predicate, sortedBy: keys)
  }

  /// The first object of an entity, or of its subentities, that matches a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])`` does.
  open func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> ManagedObject? {
    try context.fetchOne(entityName, matching: predicate, sortedBy: keys)
  }

  /// The first object of a class that matches a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as for an entity's name.
  open func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy keys: [SortKey] = []
  ) throws(ArborError) -> T? {
    try context.fetchOne(type, matching: predicate, sortedBy: keys)
  }

  /// The number of objects of an entity, and of its subentities, that match a predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])`` does.
  open func count(_ entityName: String, matching predicate: FetchPredicate? = nil)
    throws(ArborError) -> Int
  {
    try context.count(entityName, matching: predicate)
  }

  /// The number of objects of a class that match a predicate.
  ///
  /// - Throws: ``ArborError`` as for an entity's name.
  open func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try context.count(type, matching: predicate)
  }

  /// The results of a request.
  ///
  /// - Throws: ``ArborError`` as ``fetchAll(_:matching:sortedBy:)-(String,_,[SortKey])`` does.
  open func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try context.fetch(request)
  }

  // MARK: Named requests

  /// A copy of a named request of the model, which the caller may change.
  ///
  /// - Parameters:
  ///   - name: The request's name in the model.
  ///   - variables: What stands for each `$variable` of its predicate.
  /// - Throws: ``ArborError`` `unknownName` for a name that the model does not know,
  ///   `invalidPredicate` where a variable has no value.
  open func fetchRequest(
    named name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    try store.fetchRequest(named: name, substituting: variables)
  }

  /// The results of a named request.
  ///
  /// - Throws: ``ArborError`` as ``fetchRequest(named:substituting:)`` and ``fetch(_:)`` do.
  open func fetch(
    requestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> [ManagedObject] {
    try fetch(fetchRequest(named: name, substituting: variables))
  }

  /// The first result of a named request, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetchRequest(named:substituting:)`` and ``fetch(_:)`` do.
  open func fetchOne(
    requestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> ManagedObject? {
    try context.fetchOne(fetchRequest(named: name, substituting: variables))
  }

  /// The number of results of a named request.
  ///
  /// - Throws: ``ArborError`` as ``fetchRequest(named:substituting:)`` and ``fetch(_:)`` do.
  open func count(
    forRequestNamed name: String, substituting variables: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> Int {
    try context.count(fetchRequest(named: name, substituting: variables))
  }

  // MARK: Committing

  /// Validates all pending changes and writes them in one transaction, or throws and changes
  /// nothing.
  ///
  /// Ends a round of changes before it writes; what hooks of the commit and the merging of others'
  /// commits changed besides is a round of its own.
  ///
  /// - Throws: ``ArborError`` with every violation, or the reason why the store cannot be written.
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

  /// Drops all pending changes, and ends a round: the delegate is not told of what was rolled back.
  open func rollback() {
    context.rollback()
    if delegate != nil { beginRound() }
  }

  /// Commits the managers of this one's group, or this one where it has none.
  ///
  /// - Throws: ``ArborError`` as ``commit()`` and ``DataManagerGroup/commitAll()`` do.
  open func flush() throws(ArborError) {
    if let group { try group.commitAll() } else { try commit() }
  }

  /// Erases all objects of the store in one transaction, and the pending changes with them.
  ///
  /// The manager, its context and their observers stay usable; unique IDs go on counting.
  ///
  /// - Throws: ``ArborError`` where the store cannot be written.
  open func purge() throws(ArborError) {
    try store.purge()
    context.reset()
    if delegate != nil { beginRound() }
  }

  /// Runs a body in the store's background context and commits what it changed; when it returns,
  /// this manager's context has taken the commit in.
  ///
  /// - Returns: What the body returns; objects stay behind, their IDs do not.
  /// - Throws: What the body throws, and ``ArborError`` as ``commit()`` does.
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

  /// Undoes the last undo group, even if it has been committed since; does nothing if there isn't
  /// one. Ends a round of changes, what was undone included.
  ///
  /// A group is what a round changed, up to ``commit()``, ``undo()``, ``redo()`` or
  /// ``processPendingChanges()``: one undo takes back the insertion of an object together with the
  /// values it was given. ``beginUndoGroup()`` groups what is to be undone by itself.
  /// See ``UndoHistory/undo()``.
  open func undo() { round { context.undoHistory?.undo() } }

  /// Brings again what was undone last; nothing where something else has changed since. Ends a
  /// round of changes, what came again included.
  open func redo() { round { context.undoHistory?.redo() } }

  /// Opens an undo group: what changes until ``endUndoGroup()`` is undone together.
  open func beginUndoGroup() { context.undoHistory?.beginGroup() }

  /// Ends the undo group that was opened last.
  ///
  /// - Precondition: A group is open.
  open func endUndoGroup() { context.undoHistory?.endGroup() }

  /// Takes back the last group inside of the open undo group; without an open one, the last group.
  /// Ends a round of changes.
  open func undoGroup() { round { context.undoHistory?.undoGroup() } }

  /// Brings the group again that was undone last, inside of the open undo group where there is one.
  /// Ends a round of changes.
  open func redoGroup() { round { context.undoHistory?.redoGroup() } }

  /// Ends the undo group of the round, and after `body` the round.
  private func round(_ body: () -> Void) {
    context.undoHistory?.closeGroup()
    body()
    processPendingChanges()
  }

  /// Ends a round of changes: closes its undo group, unless an explicit one is open, and notifies
  /// the delegate of the changes since it was last notified.
  ///
  /// A program with a run loop calls it once for each event. ``commit()``, ``undo()`` and
  /// ``redo()`` do by themselves.
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

@available(*, unavailable, message: "A manager stays with its context; pass its store.")
extension DataManager: Sendable {}
