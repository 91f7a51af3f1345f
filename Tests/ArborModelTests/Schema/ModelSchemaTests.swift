import ModelSamples
import ArborModel
import Testing

@Suite struct ModelSchemaTests {
  @Test("Entities are found by name and by object number")
  func findsEntitiesByNameAndByObject() throws {
    let schema = try SchemaFixture.schema()
    for entity in schema.entities {
      #expect(schema.entity(named: entity.name) === entity)
      let number = ObjectNumber(entity: entity.number, sequence: 7)
      #expect(schema.entity(of: number) === entity)
      #expect(schema.entities[entity.index] === entity)
    }
    #expect(schema.entity(named: "Nobody") == nil)
    #expect(schema.entity(of: ObjectNumber(entity: 0, sequence: 1)) == nil)
    #expect(schema.entity(of: ObjectNumber(entity: 99, sequence: 1)) == nil)
  }

  @Test("Entities are found by number despite gaps")
  func findsEntitiesByNumbersThatLeaveGaps() throws {
    let model = try SchemaFixture.model()
    var catalog = SchemaCatalog(numbering: model)
    catalog.entries["Place"]?.number = 40
    let schema = try ModelSchema(model, catalog: catalog)
    #expect(schema.entity(of: ObjectNumber(entity: 40, sequence: 1))?.name == "Place")
    #expect(schema.entity(of: ObjectNumber(entity: 39, sequence: 1)) == nil)
  }

  @Test("Every relationship is the inverse of its inverse")
  func everyRelationshipHasAnInverseThatLeadsBack() throws {
    let schema = try SchemaFixture.schema()
    for entity in schema.entities {
      for relationship in entity.relationships {
        let inverse = schema.inverse(of: relationship)
        let back = schema.inverse(of: inverse)
        #expect(back.name == relationship.name, "\(entity.name).\(relationship.name)")
        #expect(back.declaringEntity == relationship.declaringEntity)
        #expect(entity.lineage.contains(inverse.destination))
      }
    }
  }
}
