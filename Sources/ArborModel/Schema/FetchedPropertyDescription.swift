/// One fetched property of an entity: a request whose results an object offers under a name.
///
/// The request's predicate may use `$FETCH_SOURCE`, the object itself, and `$FETCHED_PROPERTY`,
/// this description. Nothing of it is stored.
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The property's name, unique among its entity's properties, inherited ones included.
  public var name: String
  /// Whether the property may have no results.
  public var isOptional: Bool
  /// The request that finds the property's objects.
  public var request: FetchRequestTemplate
  /// Notes that steer importing and tools.
  public var userInfo: [String: String]

  /// Describes a fetched property.
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
