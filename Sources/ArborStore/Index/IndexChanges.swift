internal import ArborModel
internal import LMDB

/// Which indexes a store has to gain and to lose to become one of another model.
struct IndexChanges {
  /// The databases of indexes that have to be filled, empty ones and those made of something else.
  let built: Set<String>
  /// The databases of indexes that are asked for no more.
  let dropped: [String]

  init(from old: ModelSchema, to new: ModelSchema) {
    let before = Self.definitions(of: old)
    let after = Self.definitions(of: new)
    dropped = before.keys.filter { after[$0] == nil }.sorted()
    var built = Set(after.filter { before[$0.key] != $0.value }.keys)
    // Models that agree in all definitions differ in the version of what a folded text or a token
    // is: fingerprints count that in.
    if built.isEmpty, dropped.isEmpty {
      built = Set(after.filter { $0.value.isVersioned }.keys)
    }
    self.built = built
  }

  /// What an index holds, by names: places differ between models.
  private struct Definition: Hashable {
    struct Column: Hashable {
      let property: String
      let isAscending: Bool
      let kind: IndexSchema.Column.Kind
    }

    let columns: [Column]
    let isUnique: Bool
    let condition: String?

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
        definitions[StoreFormat.indexDatabase(entity.name, index.name)] = Definition(
          columns: index.columns.map { column in
            Definition.Column(
              property: entity.name(of: column.source), isAscending: column.isAscending,
              kind: column.kind)
          }, isUnique: index.isUnique, condition: index.condition?.text)
      }
    }
    return definitions
  }
}
