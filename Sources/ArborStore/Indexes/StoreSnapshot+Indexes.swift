package import ArborModel
internal import LMDB
internal import Synchronization

extension StoreEngine {
  /// Counts a use of an index, given its store-wide number. Takes a few nanoseconds.
  package func noteUse(ofIndex number: Int) { indexUse[number].increment() }
}

extension StoreSnapshot {
  /// Returns every index with its size and number of uses, sorted by entity and name. The sizes are
  /// those of ``space``.
  package func indexes() throws(StoreError) -> [IndexStatistics] {
    let reader = try reader
    var list: [IndexStatistics] = []
    let use = try storing(store.environment.pageUse(in: reader))
    let spaces = try databaseSpaces(reader, use).filter { $0.kind == .index }
    for (number, (index, space)) in zip(store.databases.indexes, spaces).enumerated() {
      let entity = store.schema.entities[index.schema.declaringEntity]
      list.append(
        IndexStatistics(
          entity: entity.name, name: index.schema.name,
          columns: index.schema.columns.map { column in
            FetchIndexDescription.Element(
              entity.name(of: column.source), isAscending: column.isAscending,
              kind: column.kind.description)
          }, isUnique: index.schema.isUnique, condition: index.schema.condition?.text,
          entries: space.entries, pages: space.pages, bytes: space.bytes,
          uses: store.indexUse[number].value))
    }
    return list.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
  }

  /// Returns the indexes that are not ready for reading, sorted by entity and name.
  ///
  /// - Complexity: A few lookups per unfinished index.
  package func indexBuilds() throws(StoreError) -> [IndexBuildStatus] {
    guard let unfinishedIndexes else { return [] }
    let schema = store.schema
    var list: [IndexBuildStatus] = []
    for (indexNumber, index) in store.databases.indexes.enumerated() {
      guard let build = unfinishedIndexes[indexNumber] else { continue }
      let owner = schema.entities[index.schema.declaringEntity]
      let reader = try reader
      let count = try storing { () throws(LMDBError) in
        var count = 0
        for entity in owner.concreteFamily {
          count += try reader.entryCount(store.databases.records(entity))
        }
        return count
      }
      list.append(
        IndexBuildStatus(
          entity: owner.name, index: index.schema.name, isUnique: index.schema.isUnique,
          state: build.state,
          objectsDone: build.state == .writeOnly ? count : (count * Int(build.part)) >> 16,
          objectCount: count))
    }
    return list.sorted { ($0.entity, $0.index) < ($1.entity, $1.index) }
  }
}

/// A counter that several threads may increment concurrently.
final class UseCounter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  @inline(__always)
  func increment() { count.add(1, ordering: .relaxed) }
}
