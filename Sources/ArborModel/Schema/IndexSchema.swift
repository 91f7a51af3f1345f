/// An index that covers an entity, declared by it or by an ancestor.
package final class IndexSchema: Sendable {
  package struct Column: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
      case attribute(Int)
      case toOne(Int)
      /// A part of the JSON attribute with a slot.
      case part(Int, CodablePath)
    }

    /// The form in which the column stores values.
    package enum Kind: Sendable, Hashable {
      /// The value itself.
      case plain
      /// The folded form of a string.
      case folded(StringFolding)
      /// The tokens of a string, one key for each; see ``TextTokens``.
      case tokens
      /// The elements of a list in JSON, one key for each distinct one.
      case elements
    }

    package let source: Source
    package let isAscending: Bool
    package let kind: Kind
  }

  package let name: String
  /// The declaring entity. The index's database contains the entries of all of its concrete
  /// subentities.
  package let declaringEntity: Int
  package let isUnique: Bool
  package let columns: [Column]
  /// The condition that a record must satisfy to have entries, or `nil` for all records.
  package let condition: IndexCondition?
  /// Whether every record has exactly one entry, whose key consists of its values.
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

  /// Whether a record may have any number of entries, so that the index has no order of records.
  package var hasManyKeys: Bool { columns.contains { $0.kind == .tokens || $0.kind == .elements } }
}

/// The condition of a partial index. It has no arguments, and depends only on the record itself,
/// not on the time.
package struct IndexCondition: Sendable {
  /// The text of the predicate in the model.
  package let text: String
  package let predicate: FetchPredicate

  /// Creates a condition by parsing its text.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the text cannot be parsed.
  package init(_ text: String) throws(ArborError) {
    self.text = text
    predicate = try FetchPredicate(format: text)
  }
}

extension IndexSchema.Column.Kind {
  /// The kind in index descriptions.
  package var description: FetchIndexDescription.Element.Kind {
    switch self {
    case .plain, .elements: .binary
    case .folded: .folded
    case .tokens: .text
    }
  }
}

extension IndexCondition {
  /// Returns the condition with its names resolved for an entity that the index covers.
  ///
  /// - Throws: Never for a valid model.
  package func bound(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    try PredicateBinder.bind(predicate, to: entity, in: schema)
  }
}
