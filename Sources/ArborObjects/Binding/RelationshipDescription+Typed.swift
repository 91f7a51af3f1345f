public import ArborModel

/// A Swift type that relationships are read as: `Company?`, `Set<Employee>`, `[Employee]` where
/// the members have an order, or a ``ToMany`` view.
public protocol RelationshipValue {
  /// The class at the other end.
  associatedtype Destination: ManagedObject
  /// Whether there may be more than one object at the other end.
  static var isToMany: Bool { get }
  /// Whether the members keep their order.
  static var isOrdered: Bool { get }
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Wrapped
  /// One object at most.
  public static var isToMany: Bool { false }
  /// One object has no order.
  public static var isOrdered: Bool { false }
}

extension Set: RelationshipValue where Element: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Element
  /// Any number of objects.
  public static var isToMany: Bool { true }
  /// The members have no order.
  public static var isOrdered: Bool { false }
}

extension Array: RelationshipValue where Element: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Element
  /// Any number of objects.
  public static var isToMany: Bool { true }
  /// The members keep their order.
  public static var isOrdered: Bool { true }
}

extension RelationshipDescription {
  /// Describes a relationship of a typed class by the type that its property has.
  ///
  /// ```swift
  /// RelationshipDescription("mentor", Person?.self, deleteRule: .noAction)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique in its entity and all it inherits.
  ///   - type: The type that the class reads the relationship as.
  ///   - options: What else is to be said, in any order.
  ///   - deleteRule: What happens to the objects at the other end when an object is deleted.
  public init<Members: RelationshipValue>(
    _ name: String, _ type: Members.Type, _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify
  ) {
    self.init(name, type, inverse: nil, options, deleteRule)
  }

  /// Describes a relationship of a typed class that has a relationship back.
  ///
  /// The inverse is named twice: as a text, which the model keeps, and as a key path, by which the
  /// compiler checks that there is such a relationship and that it leads back to the class.
  ///
  /// ```swift
  /// RelationshipDescription(
  ///   "company", Company?.self, of: Employee.self, inverse: "employees", at: \.employees)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique in its entity and all it inherits.
  ///   - type: The type that the class reads the relationship as.
  ///   - owner: The class that has the relationship.
  ///   - inverse: The name of the relationship back.
  ///   - path: The same as a key path.
  ///   - options: What else is to be said, in any order.
  ///   - deleteRule: What happens to the objects at the other end when an object is deleted.
  public init<Owner: ManagedObject, Members: RelationshipValue, Back: RelationshipValue>(
    _ name: String, _ type: Members.Type, of owner: Owner.Type, inverse: String,
    at path: KeyPath<Members.Destination, Back>, _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify
  ) where Back.Destination == Owner {
    self.init(name, type, inverse: inverse, options, deleteRule)
  }

  private init<Members: RelationshipValue>(
    _ name: String, _ type: Members.Type, inverse: String?, _ options: [RelationshipOption],
    _ deleteRule: DeleteRule
  ) {
    var typed: [RelationshipOption] = Members.isToMany ? [.toMany] : []
    if Members.isOrdered { typed.append(.ordered) }
    self.init(
      name, to: Members.Destination.entityName, inverse: inverse, options: typed + options,
      deleteRule: deleteRule)
  }
}
