/// A derived attribute: its expression, bound to the declaring entity, and the properties that the
/// expression reads.
package struct Derivation: Sendable {
  /// The attribute's slot, the same in all entities that inherit it.
  package let slot: Int
  package let expression: BoundExpression
  /// Whether the value depends on the time of the commit.
  package let usesNow: Bool
  package let reads: [DerivationRead]
  /// The expression as an incrementally maintained aggregate, or `nil` for any other expression.
  package let aggregate: DerivedAggregate?
}

/// A property that a derivation reads, of the object itself or of a related one.
package struct DerivationRead: Sendable {
  package enum Property: Sendable {
    /// An attribute by its slot.
    case attribute(Int)
    case toOne(RelationshipSchema)
    case members(RelationshipSchema)
  }

  /// The relationships from the object to the objects that are read, or empty for the object
  /// itself.
  package let hops: [RelationshipSchema]
  package let property: Property
}

extension Derivation {
  /// Binds an attribute's derivation.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the text is not a valid expression, uses
  ///   unknown names, has the wrong type, or cannot be kept up to date.
  package init(
    _ attribute: AttributeSchema, _ text: String, of entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) {
    let column = try PredicateParser.column(text)
    guard column.name == nil else {
      throw Self.flaw("the expression names its value. Remove AS and the name.")
    }
    let (expression, kind) = try PredicateBinder.bind(column.expression, to: entity, in: schema)
    guard !expression.isCollection, !kind.isList else {
      throw Self.flaw(
        "the expression has many values. Reduce them with @count, @sum, @avg, @min or @max.")
    }
    guard attribute.description.type.takes(kind) else {
      throw Self.flaw(
        "the expression yields \(kind.name), but the attribute takes "
          + "\(attribute.description.type.expectation). Change the expression or the attribute's "
          + "type.")
    }
    var visitor = DerivationReads(schema: schema)
    visitor.visit(expression, [[]])
    if let flaw = visitor.flaw { throw Self.flaw(flaw) }
    let usesNow = expression.contains { expression, _ in
      if case .call(.now, _) = expression { true } else { false }
    }
    self.init(
      slot: attribute.slot, expression: expression, usesNow: usesNow, reads: visitor.reads,
      aggregate: DerivedAggregate(expression, into: attribute))
  }

  private static func flaw(_ message: String) -> ArborError {
    ArborError(.invalidPredicate, message)
  }

  /// Returns the catalog numbers of the entities on whose objects, other than the object itself,
  /// the value depends.
  package func entities(in schema: ModelSchema) -> Set<UInt16> {
    var entities: Set<UInt16> = []
    for read in reads {
      for hop in read.hops { entities.formUnion(schema.numbers(ofFamily: hop.destination)) }
      if case .members(let relationship) = read.property {
        entities.formUnion(schema.numbers(ofFamily: relationship.destination))
      }
    }
    return entities
  }
}

extension ModelSchema {
  /// Returns the catalog numbers of an entity's concrete family.
  fileprivate func numbers(ofFamily index: Int) -> [UInt16] {
    entities[index].concreteFamily.map { entities[$0].number }
  }
}

extension AttributeType {
  /// Returns whether values of a kind can be valid, as far as the kind determines that.
  fileprivate func takes(_ kind: ValueKind) -> Bool {
    let own = self.kind.valueKind == .any ? ValueKind(self.kind.field) : self.kind.valueKind
    return own == .any || kind == .any || kind == own
  }
}
