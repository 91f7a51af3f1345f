import ArborModel

extension FetchPredicate {
  /// Compiles the predicate for records of a concrete entity.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if it cannot be parsed, bound or type-checked.
  func compiled(
    for concrete: EntitySchema, environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    let bound = try PredicateBinder.bind(self, to: concrete, in: environment.schema)
    return try PredicateCompiler.compile(
      [bound.root], arguments: arguments, for: concrete, environment: environment)
  }
}
