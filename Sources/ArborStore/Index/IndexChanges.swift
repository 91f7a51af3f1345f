internal import ArborModel
internal import LMDB

/// Which indexes a store has to gain and to lose to become one of another model.
struct IndexChanges {
  /// The databases of indexes that have to be filled, empty ones and those made of something else.
  let built: Set<String>
  /// The databases of indexes that are asked for no more.
  let dropped: [String]

  /// - Parameters:
  ///   - difference: Names the indexes whose values or objects change, although they are made of
  ///     the same.
  ///   - isOfOtherVersion: Whether what lies in the file was made with another version of what a
  ///     folded text or a token is.
  init(
    from old: ModelSchema, to new: ModelSchema, refilling difference: ModelDifference,
    isOfOtherVersion: Bool
  ) {
    let before = Self.definitions(of: old)
    let after = Self.definitions(of: new)
    dropped = before.keys.filter { after[$0] == nil }.sorted()
    var built = Set(after.filter { before[$0.key] != $0.value }.keys)
    if isOfOtherVersion { built.formUnion(after.filter { $0.value.isVersioned }.keys) }
    for change in difference.changes {
      guard case .index(.refilled(let name)) = change.kind, let entity = change.entity else {
        continue
      }
      let database = StoreFormat.indexDatabase(entity, name)
      if after[database] != nil { built.insert(database) }
    }
    self.built = built
  }

  /// What an index holds, by catalogue numbers: places differ between models, and names change.
  private struct Definition: Hashable {
    struct Column: Hashable {
      let property: UInt16
      let field: FieldKind
      let isAscending: Bool
      let kind: IndexSchema.Column.Kind
    }

    let entity: UInt16
    let columns: [Column]
    let isUnique: Bool
    let condition: String?
    /// The layouts of the entities it covers, where a condition reads further fields.
    let layouts: [UInt16: UInt16]

    var isVersioned: Bool {
      columns.contains { column in
        if case .plain = column.kind { false } else { true }
      }
    }
  }

  private static func definitions(of schema: ModelSchema) -> [String: Definition] {
    var definitions: [String: Definition] = [:]
    for entity in schema.entities {
      for index in entity.indexes where index.declaringEntity == entity.index {
        let covered = entity.concreteFamily.map { schema.entities[$0] }
        definitions[StoreFormat.indexDatabase(entity.name, index.name)] = Definition(
          entity: entity.number,
          columns: index.columns.map { column in
            let field = entity.field(of: column.source)
            return Definition.Column(
              property: field.catalogNumber, field: field.kind, isAscending: column.isAscending,
              kind: column.kind)
          }, isUnique: index.isUnique, condition: index.condition?.text,
          layouts: index.condition == nil
            ? [:]
            : Dictionary(uniqueKeysWithValues: covered.map { ($0.number, $0.layout.number) }))
      }
    }
    return definitions
  }
}
