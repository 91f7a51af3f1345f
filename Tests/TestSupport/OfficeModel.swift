package import ArborModel

/// A model with one of everything that a store supports: inheritance, every kind of relationship,
/// single-column and composite indexes, and uniqueness constraints.
///
/// ```
/// Company ◀─ company ── Employee ─ manager ▶ Manager     derived, to-one
/// Employee ◀── tags ──▶ Tag                              many-to-many
/// Employee ◀── badge ─▶ Badge                            one-to-one
/// Project ─ tasks, ordered ▶ Task ─ watchers ▶ Person    ordered; without inverse
/// Project ◀ favourites, ordered ── Employee              ordered on one side of many-to-many
/// ```
package enum OfficeModel {
  package static func make() throws -> ManagedObjectModel { try model.get() }

  private static let model = Result {
    try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .indexed, .optional)
        AttributeDescription("email", .string, .optional, .unique)
      }
      EntityDescription(
        "Employee", parent: "Person",
        fetchIndexes: [
          FetchIndexDescription(
            name: "byCompanyAndAge", elements: [.init("company"), .init("age", isAscending: false)])
        ]
      ) {
        AttributeDescription("employeeID", .integer64, .unique)
        AttributeDescription("age", .integer16, .indexed, .default(18))
        AttributeDescription("salary", .double, .optional)
        AttributeDescription("hiredAt", .date, .optional, .indexed)
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("manager", to: "Manager", inverse: "reports")
        RelationshipDescription("tags", to: "Tag", inverse: "employees", .toMany)
        RelationshipDescription("badge", to: "Badge", inverse: "employee")
        RelationshipDescription("favourites", to: "Project", inverse: "fans", .toMany, .ordered)
      }
      EntityDescription("Manager", parent: "Employee") {
        RelationshipDescription("reports", to: "Employee", inverse: "manager", .toMany)
      }
      EntityDescription("Company") {
        AttributeDescription("name", .string, .unique)
        AttributeDescription("founded", .date, .optional)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Tag") {
        AttributeDescription("name", .string, .indexed)
        RelationshipDescription("employees", to: "Employee", inverse: "tags", .toMany)
      }
      EntityDescription("Badge") {
        AttributeDescription("code", .uuid, .optional)
        RelationshipDescription("employee", to: "Employee", inverse: "badge")
      }
      EntityDescription("Project") {
        AttributeDescription("title", .string, .optional)
        RelationshipDescription("tasks", to: "Task", inverse: "project", .toMany, .ordered)
        RelationshipDescription("fans", to: "Employee", inverse: "favourites", .toMany)
      }
      EntityDescription("Task") {
        AttributeDescription("title", .string, .optional)
        RelationshipDescription("project", to: "Project", inverse: "tasks")
        RelationshipDescription("watchers", to: "Person", .toMany)
      }
    }
  }
}
