public import ArborModel

extension PredicateAllowList {
  /// Allows a property of a typed class.
  ///
  /// ```swift
  /// var allowed = PredicateAllowList()
  /// try allowed.allow(\Employee.company)
  /// try allowed.allow(\Company.name)
  /// ```
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the key path isn't a property in the class's
  ///   `entityDescription`; `invalidArgument` if it continues to another object, whose properties
  ///   must be allowed for their own class.
  public mutating func allow<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>
  ) throws(ArborError) {
    let path = try Root.propertyPath(of: keyPath)
    guard !path.contains(".") else {
      throw ArborError(
        .invalidArgument,
        "The key path \(path) continues to another object. Allow the first property of the key "
          + "path, and allow the others as properties of their own classes."
      ).with(entity: Root.entityDescription.name, keyPath: path)
    }
    allow(path, of: Root.entityDescription.name)
  }
}
