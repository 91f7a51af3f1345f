internal import ArborModel
internal import Foundation
internal import LMDB

/// The transaction that a query reads from, with the databases of its store.
struct QuerySource {
  let store: StoreEngine
  let reader: TransactionReader
  /// The indexes that are not ready to be read; nil where all are.
  let unfinished: UnfinishedIndexes?
  /// Ends the query early.
  let limit: WorkLimit
  /// The locale of localized comparisons; nil for the process's locale.
  var locale: Locale?

  var schema: ModelSchema { store.schema }

  /// Which of an entity's indexes lack entries, by their positions.
  func unreadyIndexes(of entity: EntitySchema) -> Set<Int> {
    guard unfinished != nil else { return [] }
    return Set(
      entity.indexes.indices.filter { !isReady(IndexReference(entity: entity, position: $0)) })
  }

  /// Whether an index has all of its entries.
  func isReady(_ index: IndexReference) -> Bool { unfinished?.isReady(number(of: index)) ?? true }

  /// The records of a concrete entity.
  func records(_ entity: EntitySchema) -> Database { store.databases.records(entity.index) }
}

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
    else { stopProgram("A to-one relationship has no members. Read the record.") }
    return store.databases.relationships[number].members
  }

  /// Records that a query has been answered by an index.
  func noteUse(of index: IndexReference) { store.noteUse(ofIndex: number(of: index)) }
}
