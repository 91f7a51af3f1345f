internal import ArborModel
internal import LMDB

/// What a query reads from: one transaction of a store.
struct QuerySource {
  let store: StoreFile
  let reader: TransactionReader

  var schema: ModelSchema { store.schema }

  /// The concrete entities whose objects a query wants, in the order of their numbers.
  func family(_ query: StoreQuery) -> [EntitySchema] {
    guard query.includesSubentities else { return query.entity.isAbstract ? [] : [query.entity] }
    if query.entity.concreteFamily.count == 1, !query.entity.isAbstract { return [query.entity] }
    return query.entity.concreteFamily.map { schema.entities[$0] }
      .sorted { $0.number < $1.number }
  }

  /// The records of a concrete entity.
  func records(_ entity: EntitySchema) -> Database { store.databases.records(entity.index) }

  /// How many objects of the entities are stored; costs nothing.
  func count(_ family: [EntitySchema]) throws -> Int {
    var count = 0
    for entity in family { count += try reader.entryCount(records(entity)) }
    return count
  }
}

/// Follows to-one relationships for predicates and sort keys: pending objects first, then the
/// store.
///
/// The protocol cannot throw, so that evaluating a predicate stays free of error paths; what went
/// wrong is kept in ``failure`` for whoever evaluated.
final class SnapshotResolver: RecordResolver {
  private let source: QuerySource
  private let overlay: FetchOverlay?
  /// Holds records that had to be brought to the newest layout; used only where there are some.
  private lazy var allocator = SlabAllocator(slabSize: 1 << 10)
  /// Why a record could not be had.
  private(set) var failure: (any Error)?

  init(_ source: QuerySource, overlay: FetchOverlay?) {
    self.source = source
    self.overlay = overlay
  }

  func record(of number: ObjectNumber) -> RecordView? {
    if let overlay, overlay.dirty.contains(number) {
      return overlay.isDeleted(number) ? nil : overlay.pendingRecord(number)
    }
    guard let entity = source.schema.entity(of: number), !entity.isAbstract else { return nil }
    do {
      let bytes = try source.reader.get(source.records(entity), key: number.rawValue)
      guard let bytes, let base = bytes.baseAddress else { return nil }
      return try source.store.layouts.verified(
        RecordView(base: base, count: bytes.count), of: number, entity: entity,
        allocator: allocator)
    } catch {
      failure = failure ?? error
      return nil
    }
  }

  /// Reports the first failure since the query began.
  @inline(__always)
  func check() throws {
    if let failure { throw failure }
  }
}
