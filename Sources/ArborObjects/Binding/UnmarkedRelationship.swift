public import ArborModel

// A property of an `@Entity` class whose type is an object or a collection of objects is a
// relationship, but a macro cannot see this from the name of the type. For such a type, overload
// resolution selects these unavailable initializers and accessors, and the compiler reports what to
// write.

extension AttributeDescription {
  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public init<T: RelationshipValue>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) { preconditionFailure("This accessor is unavailable.") }

  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public init<T: ManagedObject>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) { preconditionFailure("This accessor is unavailable.") }
}

extension ManagedObject {
  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public final func _attribute<T: RelationshipValue>(_ slot: Int) -> T {
    preconditionFailure("This accessor is unavailable.")
  }

  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property holds objects, so it is a relationship; add @Relationship"
  ) public final func _setAttribute<T: RelationshipValue>(_ slot: Int, _ value: T) {
    preconditionFailure("This accessor is unavailable.")
  }

  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public final func _attribute<T: ManagedObject>(_ slot: Int) -> T {
    preconditionFailure("This accessor is unavailable.")
  }

  /// Unavailable, because objects are accessed through relationships.
  @available(
    *, unavailable,
    message: "the property is an object; add @Relationship, and make it optional"
  ) public final func _setAttribute<T: ManagedObject>(_ slot: Int, _ value: T) {
    preconditionFailure("This accessor is unavailable.")
  }
}
