public import ArborModel
internal import ArborWork

/// Changing many objects at once, as if one by one: validation, delete rules, inverses, indexes and
/// observers see every one of them, and the changes wait for the next commit.
extension Query {
  /// Deletes the objects, with what the delete rules of their relationships ask for.
  ///
  /// Objects are made a batch at a time; what has to be kept until the commit takes memory.
  ///
  /// - Returns: How many objects the query had.
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``. Nothing is deleted then.
  @discardableResult
  public func delete() throws(ArborError) -> Int {
    try context.change(request) { object throws(ArborError) in
      // A delete rule may have come before.
      if !object.isDeleted { object.context?.delete(object) }
    }
  }

  /// Sets properties of the objects, by their names.
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
  public func update(_ values: [String: (any PredicateArgument)?]) throws(ArborError) -> Int {
    try change(values.mapValues { $0?.predicateValue ?? .null })
  }

  /// Sets properties of the objects, by their names, to dynamic values.
  ///
  /// - Returns: How many objects the query had.
  /// - Throws: As the form that takes Swift values.
  @_disfavoredOverload @discardableResult
  public func update(_ values: [String: Value]) throws(ArborError) -> Int { try change(values) }

  private func change(_ values: [String: Value]) throws(ArborError) -> Int {
    // In one order, whatever that of the dictionary: the last of two inverse relationships wins.
    let changes = values.sorted { $0.key < $1.key }
    try context.check(changes, for: request)
    return try context.change(request) { object throws(ArborError) in
      for (key, value) in changes { try object.setValue(value, forKey: key) }
    }
  }
}

extension ManagedObjectContext {
  private static let changedAtATime = 256

  /// Changes every object of a request, or none.
  fileprivate func change<T: ManagedObject>(
    _ request: FetchRequest<T>, _ body: (ManagedObject) throws(ArborError) -> Void
  ) throws(ArborError) -> Int {
    let numbers = try fetchNumbers(request)
    try work.withSavepoint { () throws(ArborError) in
      var rest = numbers[...]
      while !rest.isEmpty {
        let part = rest.prefix(Self.changedAtATime)
        rest = rest.dropFirst(part.count)
        for object in try existingObjects(part) { try body(object) }
        try throwFailure()
      }
    }
    return numbers.count
  }

  /// Checks that the properties exist and take the values, before any object is changed.
  fileprivate func check<T: ManagedObject>(
    _ changes: [(key: String, value: Value)], for request: FetchRequest<T>
  ) throws(ArborError) {
    let entity = try entity(for: request)
    for (key, value) in changes {
      switch entity.property(named: key) {
      case .attribute(let attribute):
        let type = attribute.description.type
        if case .undefined = type { continue }
        guard type.fitting(value) == nil else { continue }
        throw mismatch(entity, key, value, type.expectation)
      case .relationship(let relationship):
        try check(value, for: relationship, of: entity)
      case nil:
        throw ArborError(
          .unknownName,
          "Entity \(entity.name) has no property \(key)."
            + NearestName.hint(key, in: entity.propertyNames)
        ).with(entity: entity.name, keyPath: key)
      }
    }
  }

  private func check(
    _ value: Value, for relationship: RelationshipSchema, of entity: EntitySchema
  ) throws(ArborError) {
    var targets: [Value] = []
    switch value {
    case .null: break
    case .objectID where !relationship.isToMany: targets = [value]
    case .list(let members) where relationship.isToMany: targets = members
    default:
      throw mismatch(
        entity, relationship.name, value,
        relationship.isToMany ? "a list of object IDs" : "an object ID")
    }
    for target in targets {
      guard case .objectID(let id) = target else {
        throw mismatch(entity, relationship.name, value, "a list of object IDs")
      }
      _ = try number(of: id)
    }
  }

  private func mismatch(
    _ entity: EntitySchema, _ key: String, _ value: Value, _ expectation: String
  ) -> ArborError {
    ArborError(
      .typeMismatch,
      "\(entity.name).\(key) takes \(expectation), and the value is none."
    ).with(entity: entity.name, keyPath: key, offending: "\(value)")
  }
}
