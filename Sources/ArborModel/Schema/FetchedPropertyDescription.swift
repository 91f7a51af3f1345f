/// A fetched property of an entity: a request whose results are a property of an object.
///
/// The request's predicate can contain `$FETCH_SOURCE`, which is the object itself, and
/// `$FETCHED_PROPERTY`, which is this description. Results are not stored.
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The property's name, unique among its entity's properties, including inherited ones.
  public var name: String
  /// A Boolean value that indicates whether the property may have no results.
  public var isOptional: Bool
  /// The request that fetches the property's objects.
  public var request: FetchRequestTemplate
  /// User-defined entries, which also control importing and tools.
  public var userInfo: [String: String]

  /// Creates a fetched property.
  public init(
    name: String, isOptional: Bool = true, request: FetchRequestTemplate,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.isOptional = isOptional
    self.request = request
    self.userInfo = userInfo
  }
}
