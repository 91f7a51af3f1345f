public import ArborModel
public import Foundation

/// Fetching in one line, and by the names of a model's requests.
extension ManagedObjectContext {
  /// Fetches objects of a typed class.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetch<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try fetch(session.request(type, predicate, sortKeys))
  }

  /// Fetches the objects that fulfil a typed predicate.
  ///
  /// ```swift
  /// let feeds = try context.fetch(Feed.self, matching: #Predicate { $0.isActive })
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetch<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try fetch(type, matching: FetchPredicate(predicate), sortedBy: sortKeys)
  }

  /// Fetches objects of an entity by its name.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetch(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [ManagedObject] {
    try fetch(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// The first object of a typed class that fulfils a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> T? {
    guard type != ManagedObject.self else {
      return try fetchOne(session.request(type, predicate, sortKeys))
    }
    try session.beginOperation()
    // The binding makes objects of this class or one that inherits from it.
    return try session.first(session.binding(for: type), predicate, sortKeys)
      .map { unsafeDowncast($0, to: type) }
  }

  /// The first object that fulfils a typed predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: FetchPredicate(predicate), sortedBy: sortKeys)
  }

  /// The first object of an entity that fulfils a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> ManagedObject? {
    try fetchOne(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// The number of objects of a typed class that fulfil a predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(session.request(type, predicate, []))
  }

  /// The number of objects that fulfil a typed predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>
  ) throws(ArborError) -> Int {
    try count(type, matching: FetchPredicate(predicate))
  }

  /// The number of objects of an entity that fulfil a predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count(
    _ entityName: String, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(FetchRequest<ManagedObject>(entity: entityName, predicate: predicate))
  }

  /// A copy of one of the model's named requests, which the caller may change.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, by their names without the dollar.
  /// - Throws: ``ArborError`` `unknownName` for a request that the model does not have,
  ///   `invalidPredicate` for one that does not parse.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    try store.fetchRequest(named: name, substituting: values)
  }
}
