import ArborData

/// Two model changes, the second one with code, and a reversal.
extension Demonstration {
  func evolve(_ first: ManagedObjectModel) throws {
    let second = try renameAndAdd(first)
    let third = Self.withKinds(second)
    try splitTypes(from: second, to: third)
    try goBack(to: second)
  }

  /// Renames an attribute and adds another: one small transaction, regardless of the number of
  /// objects.
  private func renameAndAdd(_ first: ManagedObjectModel) throws -> ManagedObjectModel {
    var second = first
    second.versionIdentifier = "World 2"
    Self.change("Country", of: &second) { country in
      for index in country.attributes.indices where country.attributes[index].name == "flag" {
        country.attributes[index].name = "emoji"
        country.attributes[index].renamingIdentifier = "flag"
      }
    }
    Self.change("Language", of: &second) {
      $0.attributes.append(
        AttributeDescription(name: "speakers", type: .integer64, isOptional: true))
    }
    let plan = try PersistentStore.migrationPlan(for: store, to: second)
    try report.step {
      let manager = try DataManager(model: second, at: .file(store))
      defer { manager.store.close() }
      let iceland = try manager.fetchOne("Country", matching: "alpha2 == 'IS'")
      return "opened with the next version: Country.flag is now emoji; Iceland has "
        + ((iceland?["emoji"] as String?) ?? "missing")
    }
    report.text("\(plan)")
    return second
  }

  /// Migrates to the third version, in which the types of subdivisions are separate objects.
  private static func withKinds(_ second: ManagedObjectModel) -> ManagedObjectModel {
    var third = second
    third.versionIdentifier = "World 3"
    change("Subdivision", of: &third) { subdivision in
      subdivision.attributes.removeAll { $0.name == "type" }
      subdivision.fetchIndexes.removeAll { $0.name == "byType" }
      subdivision.relationships.append(
        RelationshipDescription(
          name: "kind", destination: "Kind", inverse: "subdivisions", isOptional: true))
    }
    third.entities.append(
      EntityDescription(
        name: "Kind", attributes: [AttributeDescription(name: "name", type: .string)],
        relationships: [
          RelationshipDescription(
            name: "subdivisions", destination: "Subdivision", inverse: "kind", isToMany: true,
            isOptional: true)
        ], uniquenessConstraints: [["name"]]))
    for index in third.fetchRequestTemplates.indices
    where third.fetchRequestTemplates[index].name == "subdivisionsOfType" {
      third.fetchRequestTemplates[index].predicate = "kind.name == $TYPE"
    }
    return third
  }

  /// Converts strings to objects with code that accesses old and new objects side by side.
  private func splitTypes(
    from second: ManagedObjectModel, to third: ManagedObjectModel
  ) throws {
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: second, to: third) { migration in
        try migration.migrate("Subdivision") { old, new in
          new["kind"] = try migration.insertOrFetch("Kind", where: "name", equals: old["type"])
        }
      }
    ]
    let plan = try PersistentStore.migrationPlan(for: store, to: third, options: options)
    try report.step {
      let manager = try DataManager(model: third, at: .file(store), options: options)
      defer { manager.store.close() }
      let kinds = try manager.fetchAll("Kind")
      let most = try kinds.map {
        (kind: $0, count: try $0.objects(forKey: "subdivisions").count())
      }
      .max { $0.count < $1.count }
      guard let most else { throw DemonstrationError("no kinds") }
      return "migrated with code: \(kinds.count) kinds of subdivisions, most frequent "
        + "\(most.kind["name"] as String) (\(most.count))"
    }
    report.text("\(plan)")
  }

  /// Reverts the migration, which is possible until it is confirmed.
  private func goBack(to second: ManagedObjectModel) throws {
    try report.step {
      try PersistentStore.revertMigration(store)
      let manager = try DataManager(model: second, at: .file(store))
      defer { manager.store.close() }
      let boroughs = try manager.fetchAll(
        "Subdivision", matching: "type == 'London borough'", sortedBy: ["name"])
      guard !boroughs.isEmpty else { throw DemonstrationError("the types were not restored") }
      try manager.store.confirmMigration()
      return "reverted: \(boroughs.count) London boroughs are found by their type again"
    }
  }

  private static func change(
    _ name: String, of model: inout ManagedObjectModel, _ body: (inout EntityDescription) -> Void
  ) {
    for index in model.entities.indices where model.entities[index].name == name {
      body(&model.entities[index])
    }
  }
}
