package import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Fetches: stored and pending objects that fulfil the query's predicate, in its order.
  ///
  /// - Parameters:
  ///   - overlay: The asking context's state; nil for the store's alone.
  ///   - allocator: Where the records are copied.
  /// - Throws: `corrupted` for damaged records, `query` where an argument does not fit its
  ///   comparison.
  package func fetch(
    _ query: StoreQuery, overlay: FetchOverlay?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords {
    try answering { try QueryExecutor(source, query, overlay: overlay).fetch(allocator) }
  }

  /// The number of rows that a fetch would give. From an index alone it costs no walk over rows.
  package func count(_ query: StoreQuery, overlay: FetchOverlay?) throws(StoreError) -> Int {
    let unordered = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, limit: query.limit, offset: query.offset)
    return try answering { try QueryExecutor(source, unordered, overlay: overlay).count() }
  }

  /// How a fetch of the store's objects finds its rows.
  package func explain(_ query: StoreQuery) throws(StoreError) -> QueryPlan {
    try answering { try QueryExecutor(source, query, overlay: nil).explain() }
  }

  private var source: QuerySource {
    get throws { QuerySource(store: store, reader: try reader) }
  }

  /// Errors of every layer below become the store's in this one place.
  @inline(__always)
  private func answering<R>(_ body: () throws -> R) throws(StoreError) -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as ArborError {
      throw .query(error)
    } catch {
      preconditionFailure("A query throws errors of the store, the engine and predicates only.")
    }
  }
}
