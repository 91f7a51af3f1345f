public import ArborModel

extension PersistentStore {
  /// Returns a modifiable copy of one of the model's named requests.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, keyed by name without the dollar sign.
  /// - Throws: ``ArborError`` `unknownName` if the model has no such request, `invalidPredicate` if
  ///   its predicate cannot be parsed.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    guard let template = model.fetchRequestTemplates.first(where: { $0.name == name }) else {
      throw ArborError(
        .unknownName,
        "The model has no fetch request named \(name)."
          + NearestName.hint(name, in: model.fetchRequestTemplates.map(\.name)))
    }
    return try FetchRequest(template, substituting: values)
  }
}

extension FetchRequest<ManagedObject> {
  /// Creates a request of a model, with constants for the predicate's variables.
  package init(
    _ template: FetchRequestTemplate, substituting values: [String: (any PredicateArgument)?]
  ) throws(ArborError) {
    var description = FetchDescription(entityName: template.entity)
    if let text = template.predicate {
      description.predicate = try FetchPredicate(format: text).substituting(values)
    }
    description.fetchLimit = template.fetchLimit
    description.fetchBatchSize = template.fetchBatchSize
    description.includesSubentities = template.includesSubentities
    description.includesPendingChanges = template.includesPendingChanges
    description.returnsDistinctResults = template.returnsDistinctResults
    self.init(description)
  }
}
