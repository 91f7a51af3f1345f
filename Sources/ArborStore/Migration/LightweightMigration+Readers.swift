internal import ArborModel

/// Which migrations let processes that have the store open with its former model read on.
extension LightweightMigration {
  /// Whether everything that the older model knows reads rightly by it from now on.
  ///
  /// It does where records stay in their layouts, with values of the same kinds that may be missing
  /// where they might before, where no entity comes or goes, and where the members of relationships
  /// and the entries of indexes stay where they are: renames, further indexes and rules, other
  /// modifiers and defaults. What the older model does not know may be there in addition, as long
  /// as it is no object.
  ///
  /// The relation is transitive, so that the header can count generations.
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

  /// Whether to-many relationships are the same ones.
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

  /// The to-one relationships by the numbers of their fields.
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
