package import ArborModel

/// A model with every kind of relationship, and its schema.
package enum SchemaFixture {
  package static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription(
        "Employee", parent: "Person", uniquenessConstraints: [["number", "company"]]
      ) {
        AttributeDescription("number", .integer32)
        AttributeDescription("salary", .double, .default(1))
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("projects", to: "Project", inverse: "members", .toMany)
        RelationshipDescription("mentor", to: "Person")
      }
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("photo", .binary, .optional, .externalStorage)
        AttributeDescription("draft", .undefined, .transient)
        RelationshipDescription("friends", to: "Person", inverse: "friends", .toMany)
        RelationshipDescription("home", to: "Place", inverse: "residents")
      }
      EntityDescription("Manager", parent: "Employee") {
        AttributeDescription("bonus", .decimal, .optional)
      }
      EntityDescription("Company") {
        AttributeDescription("companyName", .string, .unique, .indexed)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
        RelationshipDescription("offices", to: "Place", .toMany)
      }
      EntityDescription("Project") {
        RelationshipDescription("members", to: "Employee", inverse: "projects", .toMany, .ordered)
      }
      EntityDescription("Place") {
        RelationshipDescription("residents", to: "Person", inverse: "home", .toMany, .ordered)
      }
    }
  }

  package static func schema(of model: ManagedObjectModel) throws -> ModelSchema {
    try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
  }

  package static func schema() throws -> ModelSchema { try schema(of: model()) }
}

extension ModelSchema {
  /// Returns an entity that must exist.
  package func required(_ name: String) throws -> EntitySchema {
    guard let entity = entity(named: name) else {
      throw ArborError(.unknownName, "The test's model has no entity \(name).")
    }
    return entity
  }
}

extension EntitySchema {
  /// Returns a relationship that must exist and may be hidden.
  package func relationship(_ name: String) throws -> RelationshipSchema {
    guard let relationship = relationships.first(where: { $0.name == name }) else {
      throw ArborError(.unknownName, "The test's entity has no relationship \(name).")
    }
    return relationship
  }
}
