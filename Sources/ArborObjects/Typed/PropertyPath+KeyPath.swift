public import ArborModel

extension PropertyPath {
  /// Creates a path from a key path of a class.
  ///
  /// If the key path isn't a path of properties in the class's `entityDescription`, the operation
  /// that uses it throws `invalidPredicate`.
  public init<Root: ManagedObject>(_ keyPath: PartialKeyPath<Root>) {
    do throws(ArborError) { self.init(try Root.propertyPath(of: keyPath)) } catch {
      self.init(failing: error)
    }
  }
}
