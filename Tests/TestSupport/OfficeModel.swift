package import ArborModel

/// A model with one of everything that a store keeps: inheritance, every kind of relationship,
/// indexes of one and of two columns, uniqueness.
///
/// ```
/// Company ◀─ company ── Employee ─ manager ▶ Manager     derived, to-one
/// Employee ◀── tags ──▶ Tag                              many-to-many
/// Employee ◀── badge ─▶ Badge                            one-to-one
/// Project ─ tasks, ordered ▶ Task ─ watchers ▶ Person    ordered; without inverse
/// Project ◀ favourites, ordered ── Employee              ordered on one side of many-to-many
/// ```
package enum OfficeModel {
  package static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "1") {
      Entity("Person", isAbstract: true) {
        Attribute("name", .string, .indexed, .optional)
        Attribute("email", .string, .optional, .unique)
      }
      Entity(
        "Employee", parent: "Person",
        fetchIndexes: [
          FetchIndexDescription(
            name: "byCompanyAndAge", elements: [.init("company"), .init("age", isAscending: false)])
        ]
      ) {
        Attribute("employeeID", .integer64, .unique)
        Attribute("age", .integer16, .indexed, .default(18))
        Attribute("salary", .double, .optional)
        Attribute("hiredAt", .date, .optional, .indexed)
        Relationship("company", to: "Company", inverse: "employees")
        Relationship("manager", to: "Manager", inverse: "reports")
        Relationship("tags", to: "Tag", inverse: "employees", .toMany)
        Relationship("badge", to: "Badge", inverse: "employee")
        Relationship("favourites", to: "Project", inverse: "fans", .toMany, .ordered)
      }
      Entity("Manager", parent: "Employee") {
        Relationship("reports", to: "Employee", inverse: "manager", .toMany)
      }
      Entity("Company") {
        Attribute("name", .string, .unique)
        Attribute("founded", .date, .optional)
        Relationship("employees", to: "Employee", inverse: "company", .toMany)
      }
      Entity("Tag") {
        Attribute("name", .string, .indexed)
        Relationship("employees", to: "Employee", inverse: "tags", .toMany)
      }
      Entity("Badge") {
        Attribute("code", .uuid, .optional)
        Relationship("employee", to: "Employee", inverse: "badge")
      }
      Entity("Project") {
        Attribute("title", .string, .optional)
        Relationship("tasks", to: "Task", inverse: "project", .toMany, .ordered)
        Relationship("fans", to: "Employee", inverse: "favourites", .toMany)
      }
      Entity("Task") {
        Attribute("title", .string, .optional)
        Relationship("project", to: "Project", inverse: "tasks")
        Relationship("watchers", to: "Person", .toMany)
      }
    }
  }
}
