public import ArborModel

// A property of an `@Entity` class whose type is an object, or a collection of objects, is a
// relationship, and a macro cannot see that of a type's name. These overloads are what is left for
// such a type among the initializers and accessors of attributes: the compiler tells what to write.

extension AttributeDescription {
  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public init<T: RelationshipValue>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) { preconditionFailure("It is unavailable.") }

  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public init<T: ManagedObject>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) { preconditionFailure("It is unavailable.") }
}

extension ManagedObject {
  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public final func _attribute<T: RelationshipValue>(_ slot: Int) -> T {
    preconditionFailure("It is unavailable.")
  }

  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public final func _setAttribute<T: RelationshipValue>(_ slot: Int, _ value: T) {
    preconditionFailure("It is unavailable.")
  }

  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public final func _attribute<T: ManagedObject>(_ slot: Int) -> T {
    preconditionFailure("It is unavailable.")
  }

  /// Not there: objects are reached by relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public final func _setAttribute<T: ManagedObject>(_ slot: Int, _ value: T) {
    preconditionFailure("It is unavailable.")
  }
}
