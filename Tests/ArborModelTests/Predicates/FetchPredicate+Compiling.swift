import ArborModel

extension FetchPredicate {
  /// The predicate as code for records of one concrete entity, which its names are resolved
  /// against.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where it does not parse, bind or fit.
  func compiled(
    for concrete: EntitySchema, environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    let bound = try PredicateBinder.bind(self, to: concrete, in: environment.schema)
    return try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: concrete, environment: environment)
  }
}
