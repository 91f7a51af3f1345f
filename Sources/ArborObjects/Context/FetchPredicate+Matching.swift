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
    let session = try requireSession(of: object)
    try session.beginOperation()
    try session.limitOperation(to: allowance)
    let bound = try PredicateBinder.bind(self, to: entity, in: schema)
    let environment = PredicateEnvironment(
      schema: schema, storeID: object.binding.storeID, locale: session.locale)
    let predicate = try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: entity, environment: environment)
    if bound.dependencies.isEmpty, !bound.dependencies.needsLimits {
      try session.mergeKnownCommits()
      _ = try requireSession(of: object)
      return try object.reading { predicate(object.currentRecord, object.number, nil) }
    }
    return try session.onPinnedSnapshot { snapshot throws(ArborError) in
      // Another commit that has been merged may have deleted it.
      _ = try requireSession(of: object)
      let record = try object.reading { object.currentRecord }
      return try session.engine.reporting(
        snapshot.evaluate(predicate, record, object.number, overlay: session.overlay))
    }
  }

  private func requireSession(
    of object: ManagedObject
  ) throws(ArborError) -> Session {
    if let session = object.session { return session }
    throw ArborError(
      .notAllowed, "\(object.objectID) doesn't belong to a context: \(object.whyDetached)."
    ).with(entity: object.binding.entity.name, objectID: object.objectID)
  }
}
