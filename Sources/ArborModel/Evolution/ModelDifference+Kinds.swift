extension ModelDifference {
  /// What changes about an entity.
  public enum EntityChange: Sendable, Hashable {
    /// The older model does not have it.
    case added
    /// The newer model does not have it; its objects go.
    case removed
    /// It had another name.
    case renamed(from: String)
    /// It is given a parent, loses it or has another; the former one by its name in the older
    /// model.
    case parentChanged(from: String?, to: String?)
    /// No object can be of exactly this entity any more.
    case becameAbstract
    /// Objects can be of exactly this entity.
    case becameConcrete
    /// Another class represents it; nil for plain managed objects.
    case classNameChanged(from: String?, to: String?)
    /// Its version hash modifier is another.
    case versionHashModifierChanged(from: String?, to: String?)
    /// Its fetched properties are others.
    case fetchedPropertiesChanged
    /// Its notes are others.
    case userInfoChanged
  }

  /// What changes about an attribute.
  public enum AttributeChange: Sendable, Hashable {
    /// The older model does not have it; what present objects have as its value.
    case added(Filling)
    /// The newer model does not have it; the entities that keep its values, where it moved to some
    /// subentities only.
    case removed(keptIn: [String])
    /// It had another name.
    case renamed(from: Subject)
    /// It was declared at another entity of the hierarchy.
    case moved(from: Subject)
    /// It moved to an entity with objects that did not have it; what they have as its value.
    case spread(Filling)
    /// The entity inherits it from an ancestor that it has now; what present objects have as its
    /// value.
    case inherited(from: String, Filling)
    /// The entity no longer has the ancestor it inherited it from.
    case disinherited(from: String)
    /// The name was that of a relationship.
    case replacesRelationship(Subject)
    /// It is of another type; what becomes of its values.
    case typeChanged(from: AttributeType, to: AttributeType, ValueConversion)
    /// Another transformer makes its bytes; they stay.
    case transformerChanged(from: String, to: String)
    /// It may be nil.
    case becameOptional
    /// It may no longer be nil; what objects have as its value for which it was.
    case becameMandatory(Filling)
    /// New objects start with another value.
    case defaultChanged(from: PropertyValue, to: PropertyValue)
    /// It becomes derived, is derived otherwise, or is no longer derived.
    case derivationChanged(from: String?, to: String?)
    /// It lives in memory only.
    case becameTransient
    /// It is stored; what present objects have as its value.
    case becameStored(Filling)
    /// Whether large values may lie outside of the records.
    case externalStorageChanged(isAllowed: Bool)
    /// Its least or greatest value is another.
    case boundsChanged(from: Bounds, to: Bounds)
    /// Its regular expression is another.
    case patternChanged(from: String?, to: String?)
    /// The class of its values is another.
    case valueClassNameChanged(from: String?, to: String?)
    /// Whether its value is kept in the history when its object is deleted.
    case preservationChanged(isPreserved: Bool)
    /// Its version hash modifier is another.
    case versionHashModifierChanged(from: String?, to: String?)
    /// Its notes are others.
    case userInfoChanged
  }

  /// What changes about a relationship.
  public enum RelationshipChange: Sendable, Hashable {
    /// The older model does not have it.
    case added(isOptional: Bool)
    /// The newer model does not have it; the entities that keep its links, where it moved to some
    /// subentities only.
    case removed(keptIn: [String])
    /// It had another name.
    case renamed(from: Subject)
    /// It was declared at another entity of the hierarchy.
    case moved(from: Subject)
    /// It moved to an entity with objects that did not have it.
    case spread(isOptional: Bool)
    /// The entity inherits it from an ancestor that it has now.
    case inherited(from: String, isOptional: Bool)
    /// The entity no longer has the ancestor it inherited it from.
    case disinherited(from: String)
    /// The name was that of an attribute.
    case replacesAttribute(Subject)
    /// There may be several objects at its other end.
    case becameToMany
    /// There is at most one object at its other end.
    case becameToOne
    /// Its members have an order.
    case becameOrdered
    /// Its members no longer have an order.
    case becameUnordered
    /// Another relationship leads back, or none.
    case inverseChanged(from: String?, to: String?)
    /// It leads to objects of another entity; the former one by its name in the older model.
    case destinationChanged(from: String, to: String)
    /// Something else happens to its members when an object is deleted.
    case deleteRuleChanged(
      from: RelationshipDescription.DeleteRule, to: RelationshipDescription.DeleteRule)
    /// It may be without a value.
    case becameOptional
    /// It may no longer be without a value.
    case becameMandatory
    /// Its least number of members is another.
    case minimumCountChanged(from: Int, to: Int)
    /// Its greatest number of members is another; 0: unbounded.
    case maximumCountChanged(from: Int, to: Int)
    /// It lives in memory only.
    case becameTransient
    /// It is stored.
    case becameStored
    /// Its version hash modifier is another.
    case versionHashModifierChanged(from: String?, to: String?)
    /// Its notes are others.
    case userInfoChanged
  }

  /// What changes about the indexes and uniqueness constraints of an entity.
  public enum IndexChange: Sendable, Hashable {
    /// The older model does not keep it.
    case added(FetchIndexDescription)
    /// The newer model does not keep it.
    case removed(name: String)
    /// It had another name.
    case renamed(name: String, from: String)
    /// It is made of something else.
    case changed(from: FetchIndexDescription, to: FetchIndexDescription)
    /// It stays as it is, and is filled anew since values or objects in it change.
    case refilled(name: String)
    /// The properties' values together become unique.
    case uniquenessAdded([String])
    /// The properties' values together no longer have to be unique.
    case uniquenessRemoved([String])
    /// The properties of a constraint have another order, and its index with them.
    case uniquenessReordered(from: [String], to: [String])
  }

  /// What changes about a composite type.
  public enum CompositeChange: Sendable, Hashable {
    /// The older model does not have it.
    case added(name: String)
    /// The newer model does not have it.
    case removed(name: String)
    /// It has a part that it did not have.
    case partAdded(name: String, part: String, Filling)
    /// It no longer has a part.
    case partRemoved(name: String, part: String)
    /// A part had another name.
    case partRenamed(name: String, part: String, from: String)
    /// A part is of another type.
    case partTypeChanged(
      name: String, part: String, from: AttributeType, to: AttributeType, ValueConversion)
    /// A part is declared otherwise: optional, with another default, other bounds.
    case partDeclarationChanged(name: String, part: String)
  }

  /// What changes about the model as a whole.
  public enum ModelChange: Sendable, Hashable {
    /// The author gave it another label.
    case versionIdentifierChanged(from: String, to: String)
    /// A configuration is added, removed, or has other entities.
    case configurationChanged(name: String, Existence)
    /// A named request is added, removed, or asks for something else.
    case fetchRequestChanged(name: String, Existence)
  }

  /// In which of two models something named is.
  public enum Existence: Sendable, Hashable {
    /// In the newer one only.
    case added
    /// In the older one only.
    case removed
    /// In both, and it differs.
    case changed
  }
}
