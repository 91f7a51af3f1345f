public import ArborModel

/// Changing many objects at once, as if one by one: validation, delete rules, inverses, indexes and
/// observers see every one of them, and the changes wait for the next commit.
extension ObjectQuery {
  /// Deletes the objects, with what the delete rules of their relationships ask for.
  ///
  /// Objects are made a batch at a time; what has to be kept until the commit takes memory.
  ///
  /// - Returns: How many objects the query had.
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``. Nothing is deleted then.
  @discardableResult
  public func delete() throws(ArborError) -> Int {
    try changeEach { object throws(ArborError) in
      // A delete rule may have come before.
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
  /// Objects are made a batch at a time; what has to be kept until the commit takes memory.
  ///
  /// - Returns: How many objects the query had.
  /// - Throws: ``ArborError`` `unknownName` for a property that there is not, `typeMismatch` for a
  ///   value that it does not take, even where the query has no objects; and as
  ///   ``ManagedObjectContext/fetch(_:)``. Nothing is changed then.
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
  /// - Returns: How many objects the query had.
  /// - Throws: ``ArborError`` as for a property's name; `invalidPredicate` for a key path that isn't
  ///   a modelled property.
  @discardableResult
  public func update<V: PredicateArgument>(
    _ keyPath: KeyPath<T, V>, to value: V
  ) throws(ArborError) -> Int {
    try change([T.propertyPath(of: keyPath): value.predicateValue])
  }

  /// Sets an optional property of the objects.
  ///
  /// - Returns: How many objects the query had.
  /// - Throws: ``ArborError`` as for a property that isn't optional.
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

  /// Changes every object, or none.
  private func changeEach(
    _ body: (ManagedObject) throws(ArborError) -> Void
  ) throws(ArborError) -> Int {
    let changedAtATime = 256
    let session = context.session
    try session.beginOperation()
    // One snapshot for all batches: an object that another commit has changed since then may no
    // longer match, which this context's commit finds.
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
