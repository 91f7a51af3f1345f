internal import ArborFoundation

/// A derived attribute: its expression, bound to the declaring entity, and the properties that the
/// expression reads.
package struct Derivation: Sendable {
  /// The attribute's slot, the same in all entities that inherit it.
  package let slot: Int
  /// The derivation's bit in sets of derivations. The highest bit represents the 64th derivation of
  /// the model and all further ones.
  package let bit: UInt64
  package let expression: BoundExpression
  /// Whether the value is the date of the last commit that wrote the object: `now()`.
  package let isCommitDate: Bool
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
    _ attribute: AttributeSchema, _ text: String, of entity: EntitySchema, in schema: ModelSchema,
    ordinal: Int = 0
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
    if attribute.description.isTransient {
      throw Self.flaw("the attribute is transient. Store it, or remove the derivation.")
    }
    let isCommitDate = if case .call(.now, _) = expression { true } else { false }
    var visitor = DerivationReads(schema: schema)
    if !isCommitDate { visitor.visit(expression, [[]]) }
    if let flaw = visitor.flaw { throw Self.flaw(flaw) }
    self.init(
      slot: attribute.slot, bit: 1 << UInt64(min(ordinal, 63)), expression: expression,
      isCommitDate: isCommitDate, reads: visitor.reads,
      aggregate: DerivedAggregate(expression, into: attribute))
  }

  private static func flaw(_ message: String) -> ArborError {
    ArborError(.invalidPredicate, message)
  }
}

extension AttributeType {
  /// Returns whether values of a kind can be valid, as far as the kind determines that.
  fileprivate func takes(_ kind: ValueKind) -> Bool {
    let own = self.kind.valueKind == .any ? ValueKind(self.kind.field) : self.kind.valueKind
    return own == .any || kind == .any || kind == own
  }
}

extension AttributeType {
  /// Converts a computed value to the form stored by this type. Returns `nil` if it doesn't fit.
  /// Sums and averages are decimals or doubles, so integral values are accepted as integers.
  package func fittingDerived(_ value: PropertyValue) -> PropertyValue? {
    if let fitting = fitting(value) { return fitting }
    let isWhole = self == .integer16 || self == .integer32 || self == .integer64
    switch (self, value) {
    case (_, .double(let number)) where isWhole:
      return Int64(exactly: number).flatMap { fitting(.integer($0)) }
    case (_, .decimal) where isWhole:
      return value.int64.flatMap { fitting(.integer($0)) }
    case (.float, .decimal(let number)), (.double, .decimal(let number)):
      return fitting(.double(Double(number.description) ?? .nan))
    case (_, .boolean(let flag)) where isWhole: return .integer(flag ? 1 : 0)
    case (.boolean, .integer(0)): return .boolean(false)
    case (.boolean, .integer(1)): return .boolean(true)
    default: return nil
    }
  }
}
