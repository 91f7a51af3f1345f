/// How many objects of each group a fetch gives: the first ones by an order of their own.
///
/// ```swift
/// request.limitPerGroup = GroupLimit(3, per: "country", by: ["-population"])
/// ```
///
/// Objects are of one group where a key path or an expression has one value for them; those without
/// a value are a group too. The request's predicate comes before, its order, offset and limit come
/// behind: of what the groups give.
public struct GroupLimit: Sendable, Hashable {
  /// The greatest number of objects of one group, at least 1.
  public var count: Int
  /// The key path or expression whose values make the groups; a path may lead to an attribute, to
  /// an object or to a part of a composite.
  public var keyPath: String {
    get { key.keyPath }
    set { key = SortKey(newValue) }
  }
  /// The key path or expression as a key, which may be one that fails.
  package private(set) var key: SortKey
  /// Which objects of a group come first. Those that agree in all keys come by their IDs.
  public var sortKeys: [SortKey]

  /// Describes a limit.
  public init(_ count: Int, per keyPath: String, by sortKeys: [SortKey] = []) {
    self.init(count, per: SortKey(keyPath), by: sortKeys)
  }

  package init(_ count: Int, per key: SortKey, by sortKeys: [SortKey]) {
    self.count = count
    self.key = key
    self.sortKeys = sortKeys
  }
}

/// A group limit whose paths and expressions have been resolved against an entity.
package struct BoundGroupLimit: Sendable {
  /// The greatest number of objects of one group.
  package let count: Int
  /// What makes the groups.
  package let key: BoundSortKey
  /// Which objects of a group come first.
  package let sortKeys: [BoundSortKey]

  /// The order of the results where nobody asks for another: group by group, each in its order.
  package var resultOrder: [BoundSortKey] { [key] + sortKeys }
}

extension GroupLimit {
  /// Resolves paths and expressions.
  ///
  /// - Throws: ``ArborError`` as ``SortKey/bind(to:in:)``, and `invalidArgument` for a count below
  ///   1.
  package func bind(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundGroupLimit {
    guard count > 0 else {
      throw ArborError(
        .invalidArgument,
        "The limit of \(count) objects per \(keyPath) excludes all objects. Use at least 1, or "
          + "remove the limit."
      ).with(entity: entity.name, keyPath: keyPath)
    }
    return BoundGroupLimit(
      count: count, key: try key.bind(to: entity, in: schema),
      sortKeys: try sortKeys.bind(to: entity, in: schema))
  }
}

extension FetchDescription {
  /// The order of the results: what was asked for, or that of the groups.
  package var resultOrder: [SortKey] {
    guard sortKeys.isEmpty, let group = limitPerGroup else { return sortKeys }
    return [group.key] + group.sortKeys
  }
}
