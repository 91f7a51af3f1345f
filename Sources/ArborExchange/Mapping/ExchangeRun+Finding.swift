import ArborJSON
import ArborModel
import ArborObjects

extension ExchangeRun {
  /// The object of each find, in the order of the plan: looked up among the objects of the store,
  /// the uncommitted ones and those of the plan itself.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` where none exists, or more than one.
  func findObjects() throws(ArborError) -> [ManagedObject] {
    guard !plan.finds.isEmpty else { return [] }
    let identities = IdentityMap(context)
    for find in plan.finds {
      identities.table(for: find.entity, by: find.attributes).want(find.key)
    }
    try identities.fetch()
    return try plan.finds.map { (find) throws(ArborError) in
      let table = identities.table(for: find.entity, by: find.attributes)
      return try theOne(of: table.objects(for: find.key), for: find)
    }
  }

  private func theOne(
    of matches: [ManagedObject], for find: PlannedFind
  ) throws(ArborError) -> ManagedObject {
    if matches.count == 1 { return matches[0] }
    let names = find.attributes.map(\.name).joined(separator: " and ")
    let problem =
      matches.isEmpty
      ? "No \(find.entity.name) has this \(names), neither here nor in the store; correct the "
        + "value, or create the object."
      : "\(matches.count) objects of \(find.entity.name) have this \(names); name more attributes, "
        + "so that one is left."
    throw find.node.error(problem).with(entity: find.entity.name, keyPath: find.attributes[0].name)
  }
}
