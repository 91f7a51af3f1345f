/// A receiver of the properties that are read from a placeholder object, for tracing key paths.
protocol PropertyTrace: AnyObject, Sendable {
  /// Records a read of the attribute with the given number in its class. Returns `false` if it
  /// doesn't exist.
  func noteAttribute(_ slot: Int) -> Bool

  /// Records that the attribute read last is a codable value, and returns a placeholder for it.
  func value<T>(codable type: T.Type) -> T?

  /// Records a read of the relationship with the given number in its class. Returns `false` if it
  /// doesn't exist.
  func noteRelationship(_ slot: Int) -> Bool

  /// Returns the placeholder object of a relationship, or `nil` if its class doesn't describe an
  /// entity.
  func destination<T: ManagedObject>(_ objectClass: T.Type) -> T?
}
