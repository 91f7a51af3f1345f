public import ArborModel
internal import ArborStore

extension FetchPredicate {
  /// Whether an object fulfils the predicate, with its uncommitted changes and those of the objects
  /// it leads to. The same as a fetch would decide.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the predicate does not parse or does not fit
  ///   the object's entity; `notAllowed` for an object that belongs to no context any more.
  public func matches(_ object: ManagedObject) throws(ArborError) -> Bool {
    let entity = object.binding.entity
    let schema = object.binding.schema
    let context = try requireContext(of: object)
    try context.reader.beginOperation()
    try context.work.limitOperation(to: allowance)
    let bound = try PredicateBinder.bind(self, to: entity, in: schema)
    let environment = PredicateEnvironment(
      schema: schema, storeID: object.binding.storeID, locale: context.work.locale)
    let predicate = try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: entity, environment: environment)
    if bound.dependencies.isEmpty, !bound.dependencies.needsLimits {
      try context.reader.takeInKnownCommits()
      _ = try requireContext(of: object)
      return try object.reading { predicate(object.currentRecord, object.number, nil) }
    }
    return try context.reader.onPinnedSnapshot { snapshot throws(ArborError) in
      // Another commit that has been merged may have deleted it.
      _ = try requireContext(of: object)
      let record = try object.reading { object.currentRecord }
      return try context.store.file.reporting(
        snapshot.evaluate(predicate, record, object.number, overlay: context.work.overlay))
    }
  }

  private func requireContext(
    of object: ManagedObject
  ) throws(ArborError) -> ManagedObjectContext {
    if let context = object.owner { return context }
    throw ArborError(
      .notAllowed, "\(object.objectID) belongs to no context: \(object.whyDetached)."
    ).with(entity: object.binding.entity.name, objectID: object.objectID)
  }
}
