/// What is told of the properties that are read of an object that stands in no store: key paths are
/// traced so.
protocol PropertyTrace: AnyObject, Sendable {
  /// Notes the reading of the attribute that the class numbers so; false where none exists.
  func noteAttribute(_ slot: Int) -> Bool

  /// Notes that the attribute that was read last is a codable value, and gives one.
  func value<T>(codable type: T.Type) -> T?

  /// Notes the reading of the relationship that the class numbers so; false where none exists.
  func noteRelationship(_ slot: Int) -> Bool

  /// The object that a relationship leads to; nil where its class describes no entity.
  func destination<T: ManagedObject>(_ objectClass: T.Type) -> T?
}
