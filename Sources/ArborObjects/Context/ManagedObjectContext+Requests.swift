public import ArborFoundation
public import ArborModel

/// Convenience methods for fetching, and the model's named requests.
extension ManagedObjectContext {
  /// Returns the objects of a typed class that match a predicate.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetch<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try fetch(session.request(type, predicate, sortKeys))
  }

  /// Returns the objects that match a typed predicate.
  ///
  /// ```swift
  /// let feeds = try context.fetch(Feed.self, matching: #Predicate { $0.isActive })
  /// ```
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetch<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try fetch(type, matching: FetchPredicate(predicate), sortedBy: sortKeys)
  }

  /// Returns the objects of an entity that match a predicate.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetch(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [ManagedObject] {
    try fetch(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// Returns the first object of a typed class that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> T? {
    guard type != ManagedObject.self, let (shape, arguments) = predicate?.whole else {
      return try fetchOne(session.request(type, predicate, sortKeys))
    }
    try session.beginOperation()
    guard let object = try session.first(type, shape, arguments, sortKeys) else {
      return nil
    }
    // The binding creates objects of this class or a subclass.
    return unsafeDowncast(object, to: type)
  }

  /// Returns the first object that matches a typed predicate, or `nil`.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> T? {
    try fetchOne(type, matching: FetchPredicate(predicate), sortedBy: sortKeys)
  }

  /// Returns the first object of an entity that matches a predicate, or `nil`.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> ManagedObject? {
    try fetchOne(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// Returns the number of objects of a typed class that match a predicate.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(session.request(type, predicate, []))
  }

  /// Returns the number of objects that match a typed predicate.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: Predicate<T>
  ) throws(ArborError) -> Int {
    try count(type, matching: FetchPredicate(predicate))
  }

  /// Returns the number of objects of an entity that match a predicate.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func count(
    _ entityName: String, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(FetchRequest<ManagedObject>(entity: entityName, predicate: predicate))
  }

  /// Returns a modifiable copy of one of the model's named requests.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, keyed by name without the dollar sign.
  /// - Throws: ``ArborError`` `unknownName` if the model has no such request, `invalidPredicate` if
  ///   its predicate cannot be parsed.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    try store.fetchRequest(named: name, substituting: values)
  }
}
