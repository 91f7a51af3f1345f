/// A part of a request's results; see ``ManagedObjectContext/fetchPage(_:after:)``.
public struct FetchPage<T: ManagedObject> {
  /// The objects of the page, in the request's order.
  public let objects: [T]
  /// The token of the next page; `nil` if this is the last one.
  public let next: String?
}
