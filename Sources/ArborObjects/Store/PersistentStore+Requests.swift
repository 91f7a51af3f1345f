public import ArborModel

extension PersistentStore {
  /// A copy of one of the model's named requests, which the caller may change.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, by their names without the dollar.
  /// - Throws: ``ArborError`` `unknownName` for a request that the model does not have,
  ///   `invalidPredicate` for one that does not parse.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    guard let template = model.fetchRequestTemplates.first(where: { $0.name == name }) else {
      throw ArborError(
        .unknownName,
        "The model has no fetch request named \(name)."
          + NearestName.hint(name, in: model.fetchRequestTemplates.map(\.name)))
    }
    var description = FetchDescription(entityName: template.entity)
    if let text = template.predicate {
      description.predicate = try FetchPredicate(format: text).substituting(values)
    }
    description.fetchLimit = template.fetchLimit
    description.fetchBatchSize = template.fetchBatchSize
    description.includesSubentities = template.includesSubentities
    description.includesPendingChanges = template.includesPendingChanges
    description.returnsDistinctResults = template.returnsDistinctResults
    return FetchRequest(description)
  }
}
