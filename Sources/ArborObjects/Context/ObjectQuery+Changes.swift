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

  /// Claims the first object that no other context, process or machine has claimed: sets properties
  /// of it and commits, and returns it.
  ///
  /// ```swift
  /// let next = context.objects(Job.self).filter("state == 0").order(by: "-priority", "number")
  /// if let job = try next.claim(["state": 1, "worker": 7]) { print("doing \(job.number)") }
  /// ```
  ///
  /// The object is chosen by the transaction that writes the commit, from all commits before it. So
  /// a claim can't conflict, and an object that no longer matches the query after its claim is
  /// claimed only once. With all values of a lease in the query and the claim, the method is a
  /// conditional update of one object. See <doc:Queues>.
  ///
  /// The commit is like any other: rules of the model and uniqueness constraints apply, derived
  /// values and indexes follow, and it is part of the history, logs and change feeds with the
  /// context's author and name. It isn't recorded for undo. `willCommit()` and `didCommit()` are not
  /// called. Hooks that validate objects are called before the transaction; if a class overrides
  /// one (see ``OverriddenHooks``), the claim starts over whenever the transaction finds another
  /// object.
  ///
  /// A limit of the query is ignored. Other transactions wait while the object is chosen, so an index
  /// should provide the query's conditions and order. A query without results doesn't wait for
  /// other transactions. The query and the commit take effect together even if the context doesn't
  /// merge other commits automatically.
  ///
  /// - Parameter values: The attributes and to-one relationships to set. A property must be stored in
  ///   the object's record alone: it can't be transient, derived, a binary value with external
  ///   storage, one end of a one-to-one relationship, or a relationship with an ordered inverse.
  /// - Returns: The claimed object in its newest state, or `nil` if no object matches. If another
  ///   commit has already changed the claimed values, the method claims the next object.
  /// - Throws: ``ArborError`` `notAllowed` if the context has changes, inside
  ///   ``ManagedObjectContext/withSnapshot(_:)``, and for a property that a claim can't set;
  ///   `validation` if the values break a rule; otherwise the same errors as ``update(_:)`` and
  ///   ``ManagedObjectContext/commit()``, other than conflicts. Unless it is an error of a commit
  ///   whose outcome is unknown, or of reading the object afterwards, nothing is claimed.
  /// - Complexity: That of ``first()``, twice, and of a commit.
  public func claim(
    _ values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> T? {
    try ClaimRun(context, setting: values.valuesByName()).run(request)
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
