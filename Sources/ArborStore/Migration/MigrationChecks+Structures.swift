internal import ArborFoundation
internal import ArborModel

/// Checks the stored values of JSON attributes whose structure changes.
extension MigrationChecks {
  /// Adds obstacles for the objects of an entity whose values don't fit the newer structure.
  func checkStructures(
    _ plan: CatalogEvolution.Entity, _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard !migration.reshaped.isEmpty, let entity = migration.new.entity(named: plan.name),
      let described = migration.new.model.entity(named: plan.name)
    else { return }
    let lineage = migration.new.model.lineage(of: described)
    for attribute in entity.attributes {
      let number = migration.new.catalog.entries[plan.name]?.properties[attribute.name]
      guard
        lineage.contains(where: {
          migration.reshaped.contains(ModelDifference.Subject($0.name, attribute.name))
        }), let field = former.layout.fields.first(where: { $0.catalogNumber == number })
      else { continue }
      var tally = ObjectTally()
      var first: JSONShape.Misfit?
      try forEachRecord(of: former) { number, record in
        guard !record.isNull(field),
          let misfit = attribute.description.misfit(inJSON: record.bytes(field), as: .kept)
        else { return }
        tally.add(number)
        first = first ?? misfit
      }
      obstacles += obstacle(plan.name, attribute.name, tally, former, " with other values") {
        "its structure changes, but \($0). In the first one, \(first?.words ?? ""). "
          + (migration.isReversal
            ? "Change them with the newer model"
            : "Give what is new a default or make it optional, change the objects with the former "
              + "model, or \(step("do so"))")
      }
    }
  }
}
