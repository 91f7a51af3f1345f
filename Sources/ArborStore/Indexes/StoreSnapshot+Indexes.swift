package import ArborModel
internal import LMDB
internal import Synchronization

extension StoreEngine {
  /// Counts a use of an index, given its store-wide number. Takes a few nanoseconds.
  package func noteUse(ofIndex number: Int) { indexUse.increment(number) }
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
          uses: store.indexUse[number]))
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

/// Counters that many threads increment. Threads rarely share one, so that processors don't have to
/// exchange it for each look-up.
///
/// `@unchecked` because of the pointer: its memory contains only atomic values, and is freed in
/// `deinit`. Numbers are those of the store's indexes, for each of which there is a counter.
final class UseCounters: @unchecked Sendable {
  private static let stripeCount = 16
  /// A row of counters for each stripe, on cache lines of its own.
  private let counts: UnsafeMutablePointer<Atomic<Int>>
  private let rowLength: Int

  /// Creates counters, each 0.
  init(_ count: Int) {
    let perLine = 64 / MemoryLayout<Atomic<Int>>.stride
    rowLength = (count + perLine - 1) / perLine * perLine
    let length = rowLength * Self.stripeCount
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: length * MemoryLayout<Atomic<Int>>.stride, alignment: 64)
    counts = memory.bindMemory(to: Atomic<Int>.self, capacity: length)
    for index in 0..<length { (counts + index).initialize(to: Atomic(0)) }
  }

  deinit {
    counts.deinitialize(count: rowLength * Self.stripeCount)
    UnsafeMutableRawPointer(counts).deallocate()
  }

  /// The sum of a counter over all threads.
  subscript(number: Int) -> Int {
    (0..<Self.stripeCount).reduce(0) {
      $0 + counts[$1 * rowLength + number].load(ordering: .relaxed)
    }
  }

  @inline(__always)
  func increment(_ number: Int) {
    counts[ThreadStripe.current(of: Self.stripeCount) * rowLength + number]
      .add(1, ordering: .relaxed)
  }
}
