public import ArborModel
internal import ArborStore
internal import ArborWork

extension FetchPredicate {
  /// Whether an object fulfils the predicate, with its uncommitted changes and those of the objects
  /// it leads to. The same as a fetch would decide.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the predicate does not parse or does not fit
  ///   the object's entity; `notAllowed` for an object that belongs to no context any more.
  public func matches(_ object: ManagedObject) throws(ArborError) -> Bool {
    let entity = object.binding.entity
    let schema = object.binding.schema
    guard let context = object.owner else {
      throw ArborError(
        .notAllowed, "\(object.objectID) belongs to no context: \(object.whyDetached)."
      ).with(entity: entity.name, objectID: object.objectID)
    }
    try context.reader.beginOperation()
    try context.work.limitOperation(to: allowance)
    let bound = try PredicateBinder.bind(self, to: entity, in: schema)
    let environment = PredicateEnvironment(
      schema: schema, storeID: object.binding.storeID, locale: context.work.locale)
    let predicate = try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: entity, environment: environment)
    if bound.dependencies.isEmpty, !bound.dependencies.needsLimits {
      return predicate(object.currentRecord, object.number, nil)
    }
    return try context.reader.onSnapshot { snapshot throws(StoreError) in
      try snapshot.evaluate(
        predicate, object.currentRecord, object.number, overlay: context.work.overlay)
    }
  }
}
