public import ArborModel

extension PropertyPath {
  /// Creates a path from a key path of a class.
  ///
  /// A key path that isn't a path of properties in the class's `entityDescription` makes the
  /// operation that uses it throw `invalidPredicate`.
  public init<Root: ManagedObject>(_ keyPath: PartialKeyPath<Root>) {
    do throws(ArborError) { self.init(try Root.propertyPath(of: keyPath)) } catch {
      self.init(failing: error)
    }
  }
}
