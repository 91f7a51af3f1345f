public import ArborModel

/// Bulk changes with the semantics of individual ones: validation, delete rules, inverses, indexes
/// and observers apply to every object, and the changes are pending until the next commit.
extension ObjectQuery {
  /// Deletes the objects and applies their relationships' delete rules.
  ///
  /// Objects are created in batches. Memory is used for the pending changes.
  ///
  /// - Returns: The number of objects matched by the query.
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``. Nothing is deleted in that
  ///   case.
  @discardableResult
  public func delete() throws(ArborError) -> Int {
    try changeEach { object throws(ArborError) in
      // A delete rule may already have deleted it.
      if !object.isDeleted { object.context?.delete(object) }
    }
  }

  /// Sets properties of the objects.
  ///
  /// ```swift
  /// try context.objects(Employee.self).filter("age == 40").update(["age": 41, "nick": nil])
  /// try query.update(["company": company])
  /// ```
  ///
  /// Objects are created in batches. Memory is used for the pending changes.
  ///
  /// - Returns: The number of objects matched by the query.
  /// - Throws: ``ArborError`` `unknownName` if a property doesn't exist and `typeMismatch` if a
  ///   value doesn't fit its property, even if the query matches no objects; otherwise the same
  ///   errors as ``ManagedObjectContext/fetch(_:)``. Nothing is changed in that case.
  @discardableResult
  public func update(
    _ values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> Int {
    try change(values.valuesByName())
  }

  /// Sets a property of the objects.
  ///
  /// ```swift
  /// try context.objects(Employee.self).filter(#Predicate { $0.age == 40 }).update(\.age, to: 41)
  /// try query.update(\.company, to: nil)
  /// ```
  ///
  /// - Returns: The number of objects matched by the query.
  /// - Throws: The same errors as ``update(_:)``; also `invalidPredicate` if the key path isn't a
  ///   modeled property.
  @discardableResult
  public func update<V: PredicateArgument>(
    _ keyPath: KeyPath<T, V>, to value: V
  ) throws(ArborError) -> Int {
    try change([T.propertyPath(of: keyPath): value.predicateValue])
  }

  /// Sets an optional property of the objects.
  ///
  /// - Returns: The number of objects matched by the query.
  /// - Throws: The same errors as for a property that isn't optional.
  @discardableResult
  public func update<V: PredicateArgument>(
    _ keyPath: KeyPath<T, V?>, to value: V?
  ) throws(ArborError) -> Int {
    try change([T.propertyPath(of: keyPath): value?.predicateValue ?? .null])
  }

  private func change(_ values: [String: PropertyValue]) throws(ArborError) -> Int {
    let changes = PropertyChanges(values)
    try changes.check(context.session.entity(for: request), in: context.store.engine)
    return try changeEach { object throws(ArborError) in
      try changes.apply(to: object)
    }
  }

  /// Calls `body` with each object. If it throws, all changes are reverted.
  private func changeEach(
    _ body: (ManagedObject) throws(ArborError) -> Void
  ) throws(ArborError) -> Int {
    let changedAtATime = 256
    let session = context.session
    try session.beginOperation()
    // One snapshot for all batches. An object may no longer match because another commit has
    // changed it; this context's commit detects that as a conflict.
    return try session.onPinnedSnapshot { _ throws(ArborError) in
      let numbers = try session.numbers(of: request)
      try context.withSavepoint { () throws(ArborError) in
        var rest = numbers[...]
        while !rest.isEmpty {
          let part = rest.prefix(changedAtATime)
          rest = rest.dropFirst(part.count)
          for object in try session.existingObjects(part) { try body(object) }
          try session.throwFailure()
        }
      }
      return numbers.count
    }
  }
}
