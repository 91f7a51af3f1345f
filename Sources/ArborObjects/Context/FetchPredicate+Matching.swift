public import ArborModel
internal import ArborStore

extension FetchPredicate {
  /// Returns whether an object matches the predicate, as a fetch would decide. Uncommitted changes
  /// of the object and of related objects are taken into account.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the predicate cannot be parsed or does not fit
  ///   the object's entity, or `notAllowed` if the object no longer belongs to a context.
  public func matches(_ object: ManagedObject) throws(ArborError) -> Bool {
    let entity = object.binding.entity
    let schema = object.binding.schema
    let session = try requireSession(of: object)
    try session.beginOperation()
    try session.limitOperation(to: allowance)
    let bound = try PredicateBinder.bind(self, to: entity, in: schema)
    let environment = PredicateEnvironment(
      schema: schema, storeID: object.binding.storeID, locale: session.locale,
      chargesWork: allowance.work != nil)
    let predicate = try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: entity, environment: environment)
    if bound.dependencies.isEmpty, !bound.dependencies.needsLimits, !environment.chargesWork {
      try session.mergeKnownCommits()
      _ = try requireSession(of: object)
      return try object.reading { predicate(object.currentRecord, object.number, nil) }
    }
    return try session.onPinnedSnapshot { snapshot throws(ArborError) in
      // Merging another commit may have deleted the object.
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
