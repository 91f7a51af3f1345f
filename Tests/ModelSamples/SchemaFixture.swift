package import ArborModel

/// A model with every kind of relationship, compiled.
package enum SchemaFixture {
  package static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Employee", parent: "Person", uniquenessConstraints: [["number", "company"]]) {
        Attribute("number", .integer32)
        Attribute("salary", .double, .default(1))
        Relationship("company", to: "Company", inverse: "employees")
        Relationship("projects", to: "Project", inverse: "members", .toMany)
        Relationship("mentor", to: "Person")
      }
      Entity("Person", isAbstract: true) {
        Attribute("name", .string, .indexed)
        Attribute("photo", .binary, .optional, .externalStorage)
        Attribute("draft", .undefined, .transient)
        Relationship("friends", to: "Person", inverse: "friends", .toMany)
        Relationship("home", to: "Place", inverse: "residents")
      }
      Entity("Manager", parent: "Employee") { Attribute("bonus", .decimal, .optional) }
      Entity("Company") {
        Attribute("companyName", .string, .unique, .indexed)
        Relationship("employees", to: "Employee", inverse: "company", .toMany)
        Relationship("offices", to: "Place", .toMany)
      }
      Entity("Project") {
        Relationship("members", to: "Employee", inverse: "projects", .toMany, .ordered)
      }
      Entity("Place") {
        Relationship("residents", to: "Person", inverse: "home", .toMany, .ordered)
      }
    }
  }

  package static func schema(of model: ManagedObjectModel) throws -> ModelSchema {
    try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
  }

  package static func schema() throws -> ModelSchema { try schema(of: model()) }
}

extension ModelSchema {
  /// An entity that the test knows to exist.
  package func required(_ name: String) throws -> EntitySchema {
    guard let entity = entity(named: name) else {
      throw ArborError(.unknownName, "The test's model has no entity \(name).")
    }
    return entity
  }
}

extension EntitySchema {
  /// A relationship that the test knows to exist, hidden ones included.
  package func relationship(_ name: String) throws -> RelationshipSchema {
    guard let relationship = relationships.first(where: { $0.name == name }) else {
      throw ArborError(.unknownName, "The test's entity has no relationship \(name).")
    }
    return relationship
  }
}
