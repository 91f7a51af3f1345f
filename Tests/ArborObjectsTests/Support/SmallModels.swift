import ArborModel

/// Companies and employees without classes, for tests of dynamic access.
enum StaffModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("companyName", .string, .optional)
        AttributeDescription("rating", .decimal, .optional)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string, .default("nobody"))
        AttributeDescription("age", .integer16, .default(18))
        AttributeDescription("salary", .double, .optional)
        AttributeDescription("hired", .date, .optional)
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
      FetchRequestTemplate(
        "olderAtCompany", entity: "Employee", predicate: "age > $AGE AND company == $company")
    }
  }
}

/// Owners of things and tags with a given delete rule.
enum OwnersModel {
  static func make(_ rule: RelationshipDescription.DeleteRule) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Owner") {
        AttributeDescription("name", .string, .default("O"))
        RelationshipDescription("things", to: "Thing", inverse: "owner", .toMany, deleteRule: rule)
        RelationshipDescription("tags", to: "Thing", inverse: "owners", .toMany, deleteRule: rule)
      }
      EntityDescription("Thing") {
        RelationshipDescription("owner", to: "Owner", inverse: "things")
        RelationshipDescription("owners", to: "Owner", inverse: "tags", .toMany)
      }
    }
  }
}
