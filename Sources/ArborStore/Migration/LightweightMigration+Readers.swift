internal import ArborModel

/// Decides whether processes that have the store open with its former model can continue to read
/// it.
extension LightweightMigration {
  /// Whether the older model still reads all of its data correctly after the migration.
  ///
  /// It does if records keep their layouts and kinds of values, if no value becomes optional, if no
  /// entity is added or removed, and if the members of relationships and the entries of indexes
  /// stay where they are. That permits renames, additional indexes and rules, and changed modifiers
  /// and defaults. The store may contain additional data other than objects.
  ///
  /// The condition is transitive, so that the header can count generations.
  var leavesReadersRight: Bool {
    old.entities.count == new.entities.count && moves.moves.isEmpty && indexes.leavesEntries
      && old.model.composites == new.model.composites
      && old.entities.allSatisfy { former in
        new.entity(numbered: former.number).map { agrees(former, $0) } ?? false
      }
  }

  private func agrees(_ former: EntitySchema, _ entity: EntitySchema) -> Bool {
    former.isAbstract == entity.isAbstract && former.layout.number == entity.layout.number
      && former.parentIndex.map { old.entities[$0].number }
        == entity.parentIndex.map { new.entities[$0].number }
      && agrees(former.attributes, entity.attributes)
      && former.relationships.count == entity.relationships.count
      && agrees(former.relationships, entity.relationships)
      && references(former, old).allSatisfy { number, reference in
        references(entity, new)[number].map { agrees(reference, $0) } ?? false
      }
  }

  private typealias PartName = SchemaCatalog.PartName

  /// Returns whether the to-many relationships keep their databases and destinations.
  private func agrees(_ former: [RelationshipSchema], _ present: [RelationshipSchema]) -> Bool {
    let byName = Dictionary(
      former.lazy.filter(\.isToMany).map { (PartName($0, old), $0) },
      uniquingKeysWith: { one, _ in one })
    return present.lazy.filter(\.isToMany).allSatisfy { present in
      guard let former = moves.carried[PartName(present, new)].flatMap({ byName[$0] }) else {
        return false
      }
      return destination(former, old) == destination(present, new)
    }
  }

  private func agrees(_ former: [AttributeSchema], _ present: [AttributeSchema]) -> Bool {
    let byNumber = Dictionary(
      present.map { ($0.field.catalogNumber, $0.description) }, uniquingKeysWith: { one, _ in one })
    return former.count == present.count
      && former.allSatisfy { attribute in
        guard let present = byNumber[attribute.field.catalogNumber] else { return false }
        let former = attribute.description
        return former.type == present.type && former.valueClassName == present.valueClassName
          && (former.isOptional || !present.isOptional)
      }
  }

  /// Returns the to-one relationships by the catalog numbers of their fields.
  private func references(
    _ entity: EntitySchema, _ schema: ModelSchema
  ) -> [UInt16: (isOptional: Bool, destination: UInt16)] {
    var references: [UInt16: (isOptional: Bool, destination: UInt16)] = [:]
    for relationship in entity.relationships {
      guard case .field(let index) = relationship.storage else { continue }
      references[entity.layout.fields[index].catalogNumber] = (
        relationship.description.isOptional, destination(relationship, schema)
      )
    }
    return references
  }

  private func agrees(
    _ former: (isOptional: Bool, destination: UInt16),
    _ present: (isOptional: Bool, destination: UInt16)
  ) -> Bool {
    former.destination == present.destination && (former.isOptional || !present.isOptional)
  }

  private func destination(_ relationship: RelationshipSchema, _ schema: ModelSchema) -> UInt16 {
    schema.entities[relationship.destination].number
  }
}
