public import ArborModel
internal import ArborStore
internal import ArborWork
internal import Foundation

/// A part of a request's results, and how to get the next.
///
/// ```swift
/// var request = FetchRequest<Employee>(sortKeys: ["-age", "name"])
/// request.fetchLimit = 50
/// let page = try context.fetchPage(request.page(after: token))
/// show(page.objects)
/// remember(page.next)
/// ```
public struct FetchPage<T: ManagedObject> {
  /// The objects of the page, in the request's order.
  public let objects: [T]
  /// The token for ``FetchRequest/page(after:)`` that gives the page behind this one; nil where
  /// this is the last.
  public let next: String?
}

extension ManagedObjectContext {
  /// Fetches one page of a request's results: as many as its limit says, or without a limit its
  /// batch size.
  ///
  /// A page goes on where the one before it ended, by what the sort keys of its last object were
  /// and by its number: objects that were inserted or deleted meanwhile neither shift the others
  /// nor repeat them. A token is a text that outlives context, store and process; it belongs to
  /// one store, entity, predicate and order. The request's offset counts for the first page only.
  ///
  /// Costs what a fetch with that limit costs: with the order of an index, or without sort keys,
  /// the rows of the page; else a look at every row, but memory for one page only.
  ///
  /// ```swift
  /// var request = FetchRequest<Employee>(sortKeys: ["name"])
  /// request.fetchLimit = 50
  /// let first = try context.fetchPage(request)
  /// let second = try context.fetchPage(request.page(after: first.next))
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``; `invalidArgument` for a token that is none, or of
  ///   another request, and for an order by the time or by chance.
  public func fetchPage<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> FetchPage<T> {
    try beginOperation()
    let entity = try reader.entity(for: request)
    var description = request.description
    let size = description.pageSize
    // One more tells whether there is a next page.
    description.fetchLimit = size + 1
    let query = try reader.query(description, entity)
    try query.checkOrder()
    let overlay = reader.overlay(for: description)
    let paths = try reader.prefetchPaths(description, of: entity)
    var fetched = FetchedObjects()
    defer { fetched.awake() }
    var next: RowContinuation?
    let results = try onSnapshot { snapshot throws(StoreError) in
      var records = try snapshot.fetch(query, overlay: overlay, allocator: work.allocator)
      if records.rows.count > size {
        records.rows.removeLast(records.rows.count - size)
        if let last = records.rows.last {
          next = try snapshot.continuation(of: last.number, in: query, overlay: overlay)
        }
      }
      let results = try reader.materialise(records, on: snapshot, &fetched)
      for path in paths { try reader.prefetch(path, of: results, on: snapshot, &fetched) }
      return results
    }
    let token = next.map { next in
      PageToken(
        values: next.values, number: next.number,
        fingerprint: description.fingerprint(storeID: store.id)
      ).text
    }
    return FetchPage(objects: results.typed(), next: token)
  }
}

extension StoreQuery {
  /// Refuses an order in which no page can be found again.
  fileprivate func checkOrder() throws(ArborError) {
    guard let key = sortKeys.first(where: \.isFleeting) else { return }
    throw ArborError(
      .invalidArgument,
      "Pages cannot be ordered by \(key.text), which gives another value each time; order by "
        + "what lasts, or fetch all at once."
    ).with(entity: entity.name, keyPath: key.text)
  }
}

extension FetchDescription {
  private static let usualBatchSize = 100

  /// How many objects are made at a time where not all are.
  var batchSize: Int { fetchBatchSize > 0 ? fetchBatchSize : Self.usualBatchSize }

  /// How many objects a page has.
  fileprivate var pageSize: Int { fetchLimit > 0 ? min(fetchLimit, .max - 1) : batchSize }

  /// Where the request's token says that its results begin; nil for a request without one.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for a token that is none, or of another request.
  func continuation(storeID: UUID) throws(ArborError) -> RowContinuation? {
    guard let text = pageToken else { return nil }
    let token = try PageToken(text)
    guard token.fingerprint == fingerprint(storeID: storeID),
      token.values.count == resultOrder.count
    else {
      throw ArborError(
        .invalidArgument,
        "The page token belongs to another request or store; use it with the entity, predicate and "
          + "sort keys of the page it came from."
      ).with(entity: entityName)
    }
    return RowContinuation(values: token.values, number: token.number)
  }
}
