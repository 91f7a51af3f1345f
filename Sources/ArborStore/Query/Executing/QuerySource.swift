internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// The transaction that a query reads from, together with the databases of its store.
struct QuerySource {
  let store: StoreEngine
  let reader: TransactionReader
  /// The indexes that are not ready for reading, or `nil` if all are.
  let unfinished: UnfinishedIndexes?
  /// The limit that ends the query early.
  let limit: WorkLimit
  /// The locale for localized comparisons, or `nil` for the process's locale.
  var locale: Locale?
  /// The tally of keys while a plan is being analyzed, otherwise `nil`.
  var keyTally: KeyTally?

  var schema: ModelSchema { store.schema }

  /// Returns the positions of the entity's indexes that lack entries.
  func unreadyIndexes(of entity: EntitySchema) -> Set<Int> {
    guard unfinished != nil else { return [] }
    return Set(
      entity.indexes.indices.filter { !isReady(IndexReference(entity: entity, position: $0)) })
  }

  /// Returns whether an index is complete.
  func isReady(_ index: IndexReference) -> Bool { unfinished?.isReady(number(of: index)) ?? true }

  /// Returns the database of a concrete entity's records.
  func records(_ entity: EntitySchema) -> Database { store.databases.records(entity.index) }
}

extension QuerySource {
  /// Returns the index's number, which is unique in the store.
  func number(of index: IndexReference) -> Int {
    store.databases.indexNumber(index.position, of: index.entity.index)
  }

  func database(of index: IndexReference) -> Database {
    store.databases.indexes[number(of: index)].database
  }

  /// Returns the database that maps owners to the members of a to-many relationship.
  func members(of relationship: RelationshipSchema) -> Database {
    guard
      let number = store.databases.relationshipIndex(
        entity: relationship.declaringEntity, slot: relationship.slot)
    else { stopProgram("A to-one relationship has no members. Read the record.") }
    return store.databases.relationships[number].members
  }

  /// Records that an index has been used by a query.
  func noteUse(of index: IndexReference) { store.noteUse(ofIndex: number(of: index)) }
}
