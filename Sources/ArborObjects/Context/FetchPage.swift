/// A page of a request's results. See ``ManagedObjectContext/fetchPage(_:after:)``.
public struct FetchPage<T: ManagedObject> {
  /// The objects of the page, in the request's order.
  public let objects: [T]
  /// The token for the next page, or `nil` if this is the last page.
  public let next: String?
}
