import ArborModel

@testable import ArborStore

/// Counts that a test defines, to use a planner without a store.
struct StubCounts: Counts {
  /// The number of objects by entity name.
  var objects: [String: Int] = [:]
  /// The number of rows of access paths, by the names of their indexes and relationships.
  var rows: [String: Int] = [:]
  /// The names of indexes that are still being built.
  var unready: Set<String> = []

  func objectCount(of family: [EntitySchema]) -> Int {
    family.reduce(0) { $0 + (objects[$1.name] ?? 0) }
  }

  func entryCount(of index: IndexReference) -> Int { objects[index.entity.name] ?? 0 }

  func linkCount(of relationship: RelationshipSchema) -> Int { rows[relationship.name] ?? 0 }

  func leafPages(of family: [EntitySchema]) -> Int { objectCount(of: family) / 50 }

  func leafPages(of index: IndexReference) -> Int { entryCount(of: index) / 400 }

  func unreadyIndexes(of entity: EntitySchema) -> Set<Int> {
    Set(entity.indexes.indices.filter { unready.contains(entity.indexes[$0].name) })
  }

  func count(
    _ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int
  ) -> RowCount? {
    let name: String? =
      switch candidate.accessPath {
      case .index(let index, _, _), .words(let index, _, _): index.schema.name
      case .members(let relationship, _), .inverse(let relationship, _): relationship.name
      case .objects: nil
      }
    let found = name.flatMap { rows[$0] } ?? candidate.lookups
    return found <= most ? .exact(found) : nil
  }
}
