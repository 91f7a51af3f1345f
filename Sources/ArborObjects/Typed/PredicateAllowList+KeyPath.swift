public import ArborModel

extension PredicateAllowList {
  /// Allows a property of a typed class beside those that are.
  ///
  /// ```swift
  /// var allowed = PredicateAllowList()
  /// try allowed.allow(\Employee.company)
  /// try allowed.allow(\Company.name)
  /// ```
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the key path is no property that the class's
  ///   `entityDescription` names, `invalidArgument` where it leads on to another object: what is
  ///   allowed of that is named as a property of its own class.
  public mutating func allow<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>
  ) throws(ArborError) {
    let path = try Root.propertyPath(of: keyPath)
    guard !path.contains(".") else {
      throw ArborError(
        .invalidArgument,
        "\(path) leads to another object. Allow its first property, and the others as properties "
          + "of their classes."
      ).with(entity: Root.entityDescription.name, keyPath: path)
    }
    allow(path, of: Root.entityDescription.name)
  }
}
