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
