public import ArborExchange
public import ArborModel
public import ArborObjects
public import Foundation

/// Variadic forms of the methods that take lists. They call the methods that subclasses override.
extension DataManager {
  /// Deletes objects and applies their relationships' delete rules immediately.
  public final func delete(_ objects: ManagedObject...) { delete(objects) }

  /// Creates the objects described by the given documents and the documents they link to, all or
  /// none of them. Nothing is committed.
  ///
  /// - Throws: ``ArborError`` with source, line, column and path. The context is unchanged.
  @discardableResult
  public final func seed(
    from sources: JSONSource..., options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try seed(from: sources, options: options)
  }

  /// Seeds the store once in its lifetime. The objects and the marker are written in one commit.
  ///
  /// - Returns: A report of the created objects, or `nil` if the store was seeded before.
  /// - Throws: The same errors as the overload that takes an array.
  @discardableResult
  public final func seedOnce(
    _ name: String, from sources: JSONSource..., options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try seedOnce(name, from: sources, options: options)
  }

  /// Returns the objects of an entity that match a predicate, sorted.
  ///
  /// - Throws: The same errors as the overload that takes an array of sort keys.
  public final func fetchAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [ManagedObject] {
    try fetchAll(entityName, matching: predicate, sortedBy: [first] + others)
  }

  /// Returns the objects of a class that match a predicate, sorted.
  ///
  /// - Throws: The same errors as the overload that takes an array of sort keys.
  public final func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> [T] {
    try fetchAll(type, matching: predicate, sortedBy: [first] + others)
  }

  /// Returns the first object of an entity, in sort order, that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as the overload that takes an array of sort keys.
  public final func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> ManagedObject? {
    try fetchOne(entityName, matching: predicate, sortedBy: [first] + others)
  }

  /// Returns the first object of a class, in sort order, that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as the overload that takes an array of sort keys.
  public final func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy first: SortKey,
    _ others: SortKey...
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: predicate, sortedBy: [first] + others)
  }

  /// Returns the objects that match a typed predicate, sorted.
  ///
  /// - Throws: The same errors as the overload that takes a ``FetchPredicate``.
  public final func fetchAll<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy keys: SortKey...
  ) throws(ArborError) -> [T] {
    try fetchAll(type, matching: FetchPredicate(predicate), sortedBy: keys)
  }

  /// Returns the first object, in sort order, that matches a typed predicate, or `nil`.
  ///
  /// - Throws: The same errors as the overload that takes a ``FetchPredicate``.
  public final func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy keys: SortKey...
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: FetchPredicate(predicate), sortedBy: keys)
  }

  /// Returns the number of objects that match a typed predicate.
  ///
  /// - Throws: The same errors as the overload that takes a ``FetchPredicate``.
  public final func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>
  ) throws(ArborError) -> Int {
    try count(type, matching: FetchPredicate(predicate))
  }
}
