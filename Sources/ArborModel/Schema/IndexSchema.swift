/// One index that covers an entity, declared there or at an ancestor.
package final class IndexSchema: Sendable {
  package struct Column: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
      /// An attribute, by its slot.
      case attribute(Int)
      /// A to-one relationship, by its slot.
      case toOne(Int)
    }

    /// What of a value the column keeps.
    package enum Kind: Sendable, Hashable {
      /// The value.
      case plain
      /// The folded form of a text.
      case folded(StringFolding)
      /// The tokens of a text, one key for each; see ``TextTokens``.
      case tokens
    }

    package let source: Source
    package let isAscending: Bool
    package let kind: Kind
  }

  package let name: String
  /// The entity that declares it: its database holds the entries of all its concrete subentities.
  package let declaringEntity: Int
  package let isUnique: Bool
  package let columns: [Column]
  /// What a record has to fulfil to have entries; nil for all records.
  package let condition: IndexCondition?
  /// Whether every record has exactly one entry, whose key is its values.
  package let isPlain: Bool

  package init(
    name: String, declaringEntity: Int, isUnique: Bool, columns: [Column],
    condition: IndexCondition?
  ) {
    self.name = name
    self.declaringEntity = declaringEntity
    self.isUnique = isUnique
    self.columns = columns
    self.condition = condition
    isPlain = condition == nil && columns.allSatisfy { $0.kind == .plain }
  }

  package var isText: Bool { columns.contains { $0.kind == .tokens } }
}

/// The condition of a partial index: about the record itself, without arguments, the same at any
/// time.
package struct IndexCondition: Sendable {
  /// The predicate as the model has it.
  package let text: String
  package let predicate: FetchPredicate

  /// - Throws: ``ArborError`` `invalidPredicate` where the text does not parse.
  package init(_ text: String) throws(ArborError) {
    self.text = text
    predicate = try FetchPredicate(format: text)
  }
}

extension IndexSchema.Column.Kind {
  /// The kind as descriptions name it.
  package var description: FetchIndexDescription.Element.Kind {
    switch self {
    case .plain: .binary
    case .folded: .folded
    case .tokens: .text
    }
  }
}

extension IndexCondition {
  /// The condition with its names resolved against an entity the index covers.
  ///
  /// - Throws: never for a model that passed the rules.
  package func bound(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    try PredicateBinder.bind(predicate, to: entity, in: schema)
  }
}
