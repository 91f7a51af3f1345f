internal import ArborModel
internal import LMDB

extension QuerySource {
  /// The index's number throughout the store.
  func number(of index: IndexReference) -> Int {
    store.databases.indexNumbers(of: index.entity.index)[index.position]
  }

  func database(of index: IndexReference) -> Database {
    store.databases.indexes[number(of: index)].database
  }

  /// Where the members of a to-many relationship are, by their owners.
  func members(of relationship: RelationshipSchema) -> Database {
    guard
      let number = store.databases.relationshipIndex(
        entity: relationship.declaringEntity, slot: relationship.slot)
    else { preconditionFailure("A to-one relationship has no members; read the record.") }
    return store.databases.relationships[number].members
  }

  /// Records that an index has served a query.
  func noteUse(of index: IndexReference) { store.noteUse(ofIndex: number(of: index)) }
}
