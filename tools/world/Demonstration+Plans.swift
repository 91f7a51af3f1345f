import ArborData

/// A query across three relationships, first without and then with the index it needs.
extension Demonstration {
  /// The regions with subdivisions in a country that is given by its official name.
  private func request(_ context: ManagedObjectContext) throws -> FetchRequest<ManagedObject> {
    FetchRequest(
      entity: "Subdivision",
      predicate: try FetchPredicate(
        format: "ANY children.parent.country.officialName BEGINSWITH 'United Kingdom'"),
      sortKeys: ["name"])
  }

  /// Prints the query's plan, adds the index that it suggests, and prints the new plan for the same
  /// result.
  ///
  /// - Returns: The model with the index.
  func addTheMissingIndex(to model: ManagedObjectModel) throws -> ManagedObjectModel {
    let before = try answer(with: model, "without an index")
    guard let advice = before.plan.suggestedIndex else {
      throw DemonstrationError("the plan suggests no index")
    }
    report.text("suggested index: \(advice)")
    var richer = model
    for entityIndex in richer.entities.indices
    where richer.entities[entityIndex].name == advice.entity {
      richer.entities[entityIndex].fetchIndexes.append(advice.index)
    }
    try report.step {
      try DataManager(model: richer, at: .file(store)).store.close()
      return "opened with a model that has it: built \(advice.index.name)"
    }
    let after = try answer(with: richer, "with \(advice.entity).\(advice.index.name)")
    guard before.names == after.names else {
      throw DemonstrationError("the index changed the result")
    }
    report.text(
      "the same \(after.names.count == 1 ? "row" : "rows"); “\(source(before.plan))” became "
        + "“\(source(after.plan))”")
    return richer
  }

  private func answer(
    with model: ManagedObjectModel, _ title: String
  ) throws -> (plan: QueryPlan, names: [String]) {
    let manager = try DataManager(model: model, at: .file(store))
    defer { manager.store.close() }
    let request = try request(manager.context)
    var names: [String] = []
    try report.step {
      names = try manager.context.fetch(request).map { $0["name"] }
      return "over three relationships, \(title): \(names.joined(separator: ", "))"
    }
    let plan = try manager.context.explain(request, analyze: true)
    report.text("\(plan)")
    return (plan, names)
  }

  /// The first step to run, which is the innermost one of the tree.
  private func source(_ plan: QueryPlan) -> QueryPlan.Step {
    var step = plan.root
    while let input = step.inputs.first { step = input }
    return step
  }
}
