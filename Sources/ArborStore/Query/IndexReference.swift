internal import ArborModel
internal import LMDB

/// One of an entity's indexes, as plans name it.
///
/// Neither a transaction nor a database belongs to it, so that a plan can be made, kept and printed
/// without a store.
struct IndexReference: Equatable {
  let entity: EntitySchema
  /// Which of the entity's indexes it is.
  let position: Int

  var schema: IndexSchema { entity.indexes[position] }

  /// The form of the index's keys.
  var keyColumns: [KeyDecoder.Column] { entity.keyColumns(of: schema) }

  static func == (left: Self, right: Self) -> Bool {
    left.entity === right.entity && left.position == right.position
  }
}

extension QuerySource {
  /// The index's number throughout the store.
  func number(of index: IndexReference) -> Int {
    store.databases.indexNumbers(of: index.entity.index)[index.position]
  }

  /// Where the index's entries are.
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
