public import ArborExchange
public import ArborModel
public import ArborObjects
public import Foundation

/// The verbs that take lists, with the lists written out. They call the verbs that subclasses
/// override.
extension DataManager {
  /// Deletes objects; their relationships' delete rules act at once.
  public final func delete(_ objects: ManagedObject...) { delete(objects) }

  /// Creates the objects that a document and the documents it links to describe, all or none of
  /// them. Nothing is committed.
  ///
  /// - Throws: ``ArborError`` with source, line, column and path; the context is then as it was.
  @discardableResult
  public final func seed(
    from sources: JSONSource..., options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try seed(from: sources, options: options)
  }

  /// Seeds the store once in its life: documents and the mark that they were read are one commit.
  ///
  /// - Returns: What was created; nil where the store was seeded before.
  /// - Throws: ``ArborError`` as with a list of documents.
  @discardableResult
  public final func seedOnce(
    _ name: String, from sources: JSONSource..., options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try seedOnce(name, from: sources, options: options)
  }

  /// The objects of an entity that match a predicate, in order.
  ///
  /// - Throws: ``ArborError`` as with a list of sort keys.
  public final func fetchAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [ManagedObject] {
    try fetchAll(entityName, matching: predicate, sortedBy: [first] + others)
  }

  /// The objects of a class that match a predicate, in order.
  ///
  /// - Throws: ``ArborError`` as with a list of sort keys.
  public final func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [T] {
    try fetchAll(type, matching: predicate, sortedBy: [first] + others)
  }

  /// The first object of an entity, in order, that matches a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as with a list of sort keys.
  public final func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> ManagedObject? {
    try fetchOne(entityName, matching: predicate, sortedBy: [first] + others)
  }

  /// The first object of a class, in order, that matches a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as with a list of sort keys.
  public final func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: predicate, sortedBy: [first] + others)
  }

  /// The objects that fulfil a typed predicate, in order.
  ///
  /// - Throws: ``ArborError`` as with a ``FetchPredicate``.
  public final func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy keys: SortKey...
  ) throws(ArborError) -> [T] {
    try fetchAll(type, matching: FetchPredicate(predicate), sortedBy: keys)
  }

  /// The first object, in order, that fulfils a typed predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as with a ``FetchPredicate``.
  public final func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy keys: SortKey...
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: FetchPredicate(predicate), sortedBy: keys)
  }

  /// The number of objects that fulfil a typed predicate.
  ///
  /// - Throws: ``ArborError`` as with a ``FetchPredicate``.
  public final func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>
  ) throws(ArborError) -> Int {
    try count(type, matching: FetchPredicate(predicate))
  }
}
