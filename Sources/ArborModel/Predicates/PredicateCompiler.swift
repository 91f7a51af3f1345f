/// Turns bound predicates into closures over record bytes.
package enum PredicateCompiler {
  /// Compiles a conjunction.
  ///
  /// - Parameters:
  ///   - nodes: The predicates that must all hold, of one ``BoundPredicate``.
  ///   - arguments: The constants of their `.argument`s.
  ///   - concrete: The entity of the records that will be asked: the bound entity or one that
  ///     inherits from it. Each has a layout of its own.
  ///   - environment: Whose objects, and when.
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit its comparison.
  package static func compile(
    _ nodes: [BoundNode], arguments: [Value], for concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    { _, _, _ in true }
  }
}

extension BoundPredicate {
  /// The predicate as a conjunction, each member with what an index can do for it: `NOT` moved
  /// inwards where that is sound, nested conjunctions dissolved, constants decided.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit its comparison.
  package func conjuncts(
    arguments: [Value], environment: PredicateEnvironment
  ) throws(ArborError) -> [Conjunct] {
    [Conjunct(node: root)]
  }
}
