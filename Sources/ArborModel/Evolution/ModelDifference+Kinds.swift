extension ModelDifference {
  /// A change of an entity.
  public enum EntityChange: Sendable, Hashable {
    /// The entity was added.
    case added
    /// The entity was removed. Its objects are deleted.
    case removed
    /// The entity was renamed.
    case renamed(from: String)
    /// The parent was added, removed or replaced. The former parent is named as in the older model.
    case parentChanged(from: String?, to: String?)
    /// The entity became abstract.
    case becameAbstract
    /// The entity became concrete.
    case becameConcrete
    /// The class changed. `nil` represents `ManagedObject`.
    case classNameChanged(from: String?, to: String?)
    /// The version hash modifier changed.
    case versionHashModifierChanged(from: String?, to: String?)
    /// The fetched properties changed.
    case fetchedPropertiesChanged
    /// The user info changed.
    case userInfoChanged
  }

  /// A change of an attribute.
  public enum AttributeChange: Sendable, Hashable {
    /// The attribute was added. The associated value describes the values of existing objects.
    case added(Filling)
    /// The attribute was removed. The associated value contains the subentities that keep its
    /// values, if it moved to some of them.
    case removed(keptIn: [String])
    /// The attribute was renamed.
    case renamed(from: Subject)
    /// The attribute moved from another entity in the hierarchy.
    case moved(from: Subject)
    /// The attribute moved to an entity with objects that didn't have it. The associated value
    /// describes the values of these objects.
    case spread(Filling)
    /// The attribute is inherited from a new ancestor. The associated value describes the values of
    /// existing objects.
    case inherited(from: String, Filling)
    /// The attribute is no longer inherited, because the entity lost the ancestor.
    case disinherited(from: String)
    /// The attribute replaces a relationship with the same name.
    case replacesRelationship(Subject)
    /// The type changed, with the given conversion of values.
    case typeChanged(from: AttributeType, to: AttributeType, ValueConversion)
    /// The structure of JSON changed at a path such as `address.city`, in which `[]` stands for the
    /// elements of a list and the members of a map. The path is empty for the whole value.
    case partChanged(path: String, JSONShape.Change)
    /// The transformer changed. The stored bytes remain unchanged.
    case transformerChanged(from: String, to: String)
    /// The attribute became optional.
    case becameOptional
    /// The attribute became mandatory. The associated value describes the values of objects with
    /// `nil`.
    case becameMandatory(Filling)
    /// The default value of new objects changed.
    case defaultChanged(from: PropertyValue, to: PropertyValue)
    /// The derivation was added, removed or changed.
    case derivationChanged(from: String?, to: String?)
    /// The attribute became transient.
    case becameTransient
    /// The attribute is no longer transient. The associated value describes the values of existing
    /// objects.
    case becameStored(Filling)
    /// External storage was allowed or disallowed.
    case externalStorageChanged(isAllowed: Bool)
    /// The minimum or maximum changed.
    case boundsChanged(from: Bounds, to: Bounds)
    /// The regular expression changed.
    case patternChanged(from: String?, to: String?)
    /// The class of the values changed.
    case valueClassNameChanged(from: String?, to: String?)
    /// Preservation of a deleted object's value in the history was enabled or disabled.
    case preservationChanged(isPreserved: Bool)
    /// The version hash modifier changed.
    case versionHashModifierChanged(from: String?, to: String?)
    /// The user info changed.
    case userInfoChanged
  }

  /// A change of a relationship.
  public enum RelationshipChange: Sendable, Hashable {
    /// The relationship was added.
    case added(isOptional: Bool)
    /// The relationship was removed. The associated value contains the subentities that keep its
    /// links, if it moved to some of them.
    case removed(keptIn: [String])
    /// The relationship was renamed.
    case renamed(from: Subject)
    /// The relationship moved from another entity in the hierarchy.
    case moved(from: Subject)
    /// The relationship moved to an entity with objects that didn't have it.
    case spread(isOptional: Bool)
    /// The relationship is inherited from a new ancestor.
    case inherited(from: String, isOptional: Bool)
    /// The relationship is no longer inherited, because the entity lost the ancestor.
    case disinherited(from: String)
    /// The relationship replaces an attribute with the same name.
    case replacesAttribute(Subject)
    /// The relationship became to-many.
    case becameToMany
    /// The relationship became to-one.
    case becameToOne
    /// The relationship became ordered.
    case becameOrdered
    /// The relationship became unordered.
    case becameUnordered
    /// The inverse was added, removed or replaced.
    case inverseChanged(from: String?, to: String?)
    /// The destination changed. The former destination is named as in the older model.
    case destinationChanged(from: String, to: String)
    /// The delete rule changed.
    case deleteRuleChanged(
      from: RelationshipDescription.DeleteRule, to: RelationshipDescription.DeleteRule)
    /// The relationship became optional.
    case becameOptional
    /// The relationship became mandatory.
    case becameMandatory
    /// The minimum number of members changed.
    case minimumCountChanged(from: Int, to: Int)
    /// The maximum number of members changed, where 0 means no limit.
    case maximumCountChanged(from: Int, to: Int)
    /// The relationship became transient.
    case becameTransient
    /// The relationship is no longer transient.
    case becameStored
    /// The version hash modifier changed.
    case versionHashModifierChanged(from: String?, to: String?)
    /// The user info changed.
    case userInfoChanged
  }

  /// A change of an index or uniqueness constraint of an entity.
  public enum IndexChange: Sendable, Hashable {
    /// The index was added.
    case added(FetchIndexDescription)
    /// The index was removed.
    case removed(name: String)
    /// The index was renamed.
    case renamed(name: String, from: String)
    /// The columns, condition or uniqueness of the index changed.
    case changed(from: FetchIndexDescription, to: FetchIndexDescription)
    /// The index itself is unchanged, but must be rebuilt because its values or objects change.
    case refilled(name: String)
    /// A uniqueness constraint on the properties was added.
    case uniquenessAdded([String])
    /// A uniqueness constraint on the properties was removed.
    case uniquenessRemoved([String])
    /// The properties of a uniqueness constraint, and the columns of its index, were reordered.
    case uniquenessReordered(from: [String], to: [String])
  }

  /// A change of a composite type.
  public enum CompositeChange: Sendable, Hashable {
    /// The type was added.
    case added(name: String)
    /// The type was removed.
    case removed(name: String)
    /// A part was added.
    case partAdded(name: String, part: String, Filling)
    /// A part was removed.
    case partRemoved(name: String, part: String)
    /// A part was renamed.
    case partRenamed(name: String, part: String, from: String)
    /// The type of a part changed.
    case partTypeChanged(
      name: String, part: String, from: AttributeType, to: AttributeType, ValueConversion)
    /// The optionality, default value or bounds of a part changed.
    case partDeclarationChanged(name: String, part: String)

    /// The name of the changed type.
    package var typeName: String {
      switch self {
      case .added(let name), .removed(let name), .partAdded(let name, _, _),
        .partRemoved(let name, _), .partRenamed(let name, _, _),
        .partTypeChanged(let name, _, _, _, _), .partDeclarationChanged(let name, _):
        name
      }
    }
  }

  /// A change of the model as a whole.
  public enum ModelChange: Sendable, Hashable {
    /// The version identifier changed.
    case versionIdentifierChanged(from: String, to: String)
    /// A configuration was added, removed or changed.
    case configurationChanged(name: String, Existence)
    /// A named request was added, removed or changed.
    case fetchRequestChanged(name: String, Existence)
  }

  /// The kind of difference in a named part.
  public enum Existence: Sendable, Hashable {
    /// The part exists only in the newer model.
    case added
    /// The part exists only in the older model.
    case removed
    /// The part exists in both models and differs.
    case changed
  }
}
