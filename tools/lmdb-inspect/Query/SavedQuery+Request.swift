import ArborBrowser
import ArborModel
import ArborObjects

extension SavedQuery {
  /// Whether the query is for rows of values, not for objects, which are distinct by themselves.
  var isForRows: Bool { !columns.isEmpty || !group.isEmpty || having != nil }

  /// Returns the query as a request.
  func request() -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(
      entity: entity, predicate: predicate.map { FetchPredicate(stringLiteral: $0) })
    complete(&request)
    return request
  }

  /// Adds everything but the condition to a request.
  func complete(_ request: inout FetchRequest<ManagedObject>) {
    if !sort.isEmpty {
      request.sortKeys = CommaList.parts(of: sort).map { SortKey(stringLiteral: $0) }
    }
    if let limit { request.fetchLimit = limit }
    request.propertiesToGroupBy = CommaList.parts(of: group).map { PropertyPath($0) }
    request.propertiesToFetch = CommaList.parts(of: columns).map { PropertyPath($0) }
    request.havingPredicate = having.map { FetchPredicate(stringLiteral: $0) }
    if isDistinct == true { request.returnsDistinctResults = true }
    if columns.isEmpty, !group.isEmpty {
      request.propertiesToFetch = request.propertiesToGroupBy + ["@count AS count"]
    }
  }
}

extension QueryShelf {
  /// Returns what `read` reads. A file that cannot be used is reported and ignored.
  func reporting<R>(
    _ read: (QueryShelf) throws(UserFileError) -> R, else empty: R
  ) -> R {
    do { return try read(self) } catch {
      StandardStream.report("lmdb-inspect: \(error) The file is ignored.")
      return empty
    }
  }

  /// Adds a query to the history. A failure is reported, because the query has been answered.
  func note(_ query: SavedQuery) {
    do { try remember(query) } catch {
      StandardStream.report("lmdb-inspect: The query history was not saved. \(error)")
    }
  }
}
