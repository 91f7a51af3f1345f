public import ArborModel

/// A Swift type of relationship properties: `Company?`, `Set<Employee>`, `[Employee]` if the
/// members are ordered, or a ``ToMany`` view.
public protocol RelationshipValue {
  /// The class at the other end.
  associatedtype Destination: ManagedObject
  /// A Boolean value that indicates whether there can be more than one object at the other end.
  static var isToMany: Bool { get }
  /// A Boolean value that indicates whether the members are ordered.
  static var isOrdered: Bool { get }
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Wrapped
  /// Always `false`.
  public static var isToMany: Bool { false }
  /// Always `false`.
  public static var isOrdered: Bool { false }
}

extension Set: RelationshipValue where Element: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Element
  /// Always `true`.
  public static var isToMany: Bool { true }
  /// Always `false`.
  public static var isOrdered: Bool { false }
}

extension Array: RelationshipValue where Element: ManagedObject {
  /// The class at the other end.
  public typealias Destination = Element
  /// Always `true`.
  public static var isToMany: Bool { true }
  /// Always `true`.
  public static var isOrdered: Bool { true }
}

extension RelationshipDescription {
  /// Creates a relationship of a typed class from the Swift type of its property.
  ///
  /// ```swift
  /// RelationshipDescription("mentor", Person?.self, deleteRule: .noAction)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique among all properties of its entity, including
  ///     inherited ones.
  ///   - type: The Swift type of the property.
  ///   - options: Further options, in any order.
  ///   - deleteRule: The effect on the objects at the other end when an object is deleted.
  public init<Members: RelationshipValue>(
    _ name: String, _ type: Members.Type, _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify
  ) {
    self.init(name, type, inverse: nil, options, deleteRule)
  }

  /// Creates a relationship of a typed class with an inverse.
  ///
  /// The inverse is specified twice: as a string, which is stored in the model, and as a key path,
  /// which lets the compiler check that the relationship exists and points back to the class.
  ///
  /// ```swift
  /// RelationshipDescription(
  ///   "company", Company?.self, of: Employee.self, inverse: "employees", at: \.employees)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique among all properties of its entity, including
  ///     inherited ones.
  ///   - type: The Swift type of the property.
  ///   - owner: The class that declares the relationship.
  ///   - inverse: The name of the inverse relationship.
  ///   - path: The inverse relationship as a key path.
  ///   - options: Further options, in any order.
  ///   - deleteRule: The effect on the objects at the other end when an object is deleted.
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
