import ArborJSON
import ArborModel
import ArborObjects

/// Where the items of objects stand, for errors of the commit that follows.
extension ItemRun {
  /// How many violations are given a location: each is counted from the beginning of the batch.
  private static let maximumLocated = 20

  /// An error of a commit with the locations of the items that the violations come from.
  func located(_ error: ArborError) -> ArborError {
    var error = error
    for index in error.violations.indices.prefix(Self.maximumLocated) {
      error.violations[index].location =
        error.violations[index].location ?? location(of: error.violations[index])
    }
    error.location = error.location ?? location(of: error) ?? error.violations.first?.location
    return error
  }

  /// Where the value that an error concerns stands, or its item where it has none.
  private func location(of error: ArborError) -> ArborError.SourceLocation? {
    guard let id = error.objectID, let object = context.registeredObject(for: id) else {
      return nil
    }
    if let itemIndex = itemsOfObjects?[object.objectNumber] {
      return location(of: planner.plan.items[Int(itemIndex)], property: error.keyPath)
    }
    return locationsOfWaiting[object.objectNumber].flatMap(location)
  }

  private func location(
    of item: ItemPlan.Item, property: String?
  ) -> ArborError.SourceLocation {
    let mapping = planner.plan.mappings[Int(item.mapping)]
    let names =
      mapping.attributes.map(\.attribute.name) + mapping.relationships.map(\.relationship.name)
    if item.origin < 0, let index = names.firstIndex(where: { $0 == property }) {
      let node = planner.plan.values[Int(item.values) + index]
      if node > 0 { return planner.plan.node(item, node).location }
    }
    return planner.plan.origin(item).location
  }
}
