package enum PropertySchema: Sendable {
  case attribute(AttributeSchema)
  case relationship(RelationshipSchema)
}

/// An attribute of an entity, inherited or own.
package struct AttributeSchema: Sendable {
  /// The attribute's slot in ``EntitySchema/attributes``.
  package let slot: Int
  package let name: String
  package let description: AttributeDescription
  /// The attribute's index in the layout's fields.
  package let fieldIndex: Int
  package let field: RecordField
}

/// A relationship of an entity: inherited, own, or the hidden inverse of one without an inverse.
///
/// A class, because it has many properties and is passed along with every link.
@usableFromInline
package final class RelationshipSchema: Sendable {
  package enum Storage: Sendable, Hashable {
    /// A to-one relationship: a field of the owner's record, by its index in the layout.
    case field(Int)
    /// An unordered to-many relationship with a to-one inverse: an index over the inverse's field.
    case derived
    /// Any other to-many relationship: links in databases of their own.
    case links
  }

  /// The relationship's slot in ``EntitySchema/relationships``, the same in all entities that
  /// inherit it.
  package let slot: Int
  package let name: String
  package let description: RelationshipDescription
  package let declaringEntity: Int
  package let destination: Int
  /// The slot of the inverse among the destination's relationships. There always is an inverse: a
  /// relationship without one gets a hidden inverse, so that deletions find all references to an
  /// object.
  package let inverseSlot: Int
  package let isToMany: Bool
  package let isOrdered: Bool
  package let isHidden: Bool
  package let isInverseToMany: Bool
  package let isOwnInverse: Bool
  package let deleteRule: RelationshipDescription.DeleteRule
  package let storage: Storage
  /// The field of the entity's records that contains the target, or `nil` for to-many
  /// relationships.
  package let field: RecordField?
  /// The catalog number of the first concrete entity of the destination, usually the only one.
  /// `nil` if all are abstract.
  @usableFromInline let usualTarget: UInt16?
  /// The catalog numbers of all concrete entities of the destination.
  @usableFromInline let targets: Set<UInt16>

  /// - Parameters:
  ///   - layout: The layout of the entity's records.
  ///   - targets: The catalog numbers of the concrete entities of the destination.
  init(
    slot: Int, description: RelationshipDescription, declaringEntity: Int, destination: Int,
    inverseSlot: Int, isHidden: Bool, isInverseToMany: Bool, isOwnInverse: Bool, storage: Storage,
    in layout: RecordLayout, targets: [UInt16]
  ) {
    self.slot = slot
    name = description.name
    self.description = description
    self.declaringEntity = declaringEntity
    self.destination = destination
    self.inverseSlot = inverseSlot
    isToMany = description.isToMany
    isOrdered = description.isOrdered
    self.isHidden = isHidden
    self.isInverseToMany = isInverseToMany
    self.isOwnInverse = isOwnInverse
    deleteRule = description.deleteRule
    self.storage = storage
    field = if case .field(let index) = storage { layout.fields[index] } else { nil }
    usualTarget = targets.first
    self.targets = Set(targets)
  }

  /// Creates the same relationship for records with another layout.
  init(_ other: RelationshipSchema, field: RecordField?) {
    slot = other.slot
    name = other.name
    description = other.description
    declaringEntity = other.declaringEntity
    destination = other.destination
    inverseSlot = other.inverseSlot
    isToMany = other.isToMany
    isOrdered = other.isOrdered
    isHidden = other.isHidden
    isInverseToMany = other.isInverseToMany
    isOwnInverse = other.isOwnInverse
    deleteRule = other.deleteRule
    storage = other.storage
    self.field = field
    usualTarget = other.usualTarget
    targets = other.targets
  }

  /// Whether both ends are fields, so that merging one record doesn't determine the other.
  package var isPaired: Bool { !isToMany && !isInverseToMany }

  /// Whether the model limits the number of members.
  package var isCounted: Bool {
    isToMany && !isHidden && !description.isTransient
      && (description.minimumCount > 0 || description.maximumCount > 0)
  }

  /// Whether the model requires a target.
  package var isMandatoryReference: Bool {
    !isToMany && !isHidden && !description.isTransient && !description.isOptional
  }

  /// Whether the model limits the number of members or requires a target.
  package var hasRule: Bool { isCounted || isMandatoryReference }

  /// Whether members stay linked to an owner whose deletion is pending, because they forbid it.
  package var keepsMembersOfDeleted: Bool { deleteRule == .deny && isToMany }

  /// Returns a description of the problem with a number of members, such as `has 1 member, which is
  /// below the minimum of 2`, or `nil` if the model allows it.
  package func problem(ofCount count: Int) -> String? {
    // The empty set is a value of an optional relationship.
    if count == 0, description.isOptional { return nil }
    let members = count == 0 ? "no members" : count == 1 ? "1 member" : "\(count) members"
    if count < description.minimumCount {
      return "has \(members), which is below the minimum of \(description.minimumCount)"
    }
    if description.maximumCount > 0, count > description.maximumCount {
      return "has \(members), which exceeds the maximum of \(description.maximumCount)"
    }
    return nil
  }

  /// Returns whether an object belongs to the relationship's destination. That can be false only in
  /// forged files.
  @inlinable @inline(__always)
  package func leads(to target: ObjectNumber) -> Bool {
    target.entity == usualTarget || targets.contains(target.entity)
  }
}
