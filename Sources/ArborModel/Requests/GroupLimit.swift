/// A limit on the number of objects that a fetch returns per group, which keeps the first ones in a
/// given order.
///
/// ```swift
/// request.limitPerGroup = GroupLimit(3, per: "country", by: ["-population"])
/// ```
///
/// Objects belong to the same group if a key path or an expression has the same value for them.
/// Objects without a value form a group, too. The request's predicate is applied before this limit;
/// its order, offset and limit are applied afterwards.
public struct GroupLimit: Sendable, Hashable {
  /// The maximum number of objects of one group, at least 1.
  public var count: Int
  /// The key path or expression that objects are grouped by. A path can lead to an attribute, to an
  /// object or to a part of a composite.
  public var keyPath: String {
    get { key.keyPath }
    set { key = SortKey(newValue) }
  }
  /// The key path or expression as a sort key, which can be invalid.
  package private(set) var key: SortKey
  /// The order within a group. Objects with equal keys are sorted by ID.
  public var sortKeys: [SortKey]

  /// Creates a limit.
  public init(_ count: Int, per keyPath: String, by sortKeys: [SortKey] = []) {
    self.init(count, per: SortKey(keyPath), by: sortKeys)
  }

  package init(_ count: Int, per key: SortKey, by sortKeys: [SortKey]) {
    self.count = count
    self.key = key
    self.sortKeys = sortKeys
  }
}

/// A group limit with its paths and expressions resolved for an entity.
package struct BoundGroupLimit: Sendable {
  /// The maximum number of objects of one group.
  package let count: Int
  /// The key by which objects are grouped.
  package let key: BoundSortKey
  /// The order within a group.
  package let sortKeys: [BoundSortKey]

  /// The default order of the results: by group, then by the order within each group.
  package var resultOrder: [BoundSortKey] { [key] + sortKeys }
}

extension GroupLimit {
  /// Resolves paths and expressions.
  ///
  /// - Throws: The errors of ``SortKey/bind(to:in:)``, and ``ArborError`` `invalidArgument` if the
  ///   count is less than 1.
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
  /// The order of the results: the requested sort keys or, without any, the default order of the
  /// group limit.
  package var resultOrder: [SortKey] {
    guard sortKeys.isEmpty, let group = limitPerGroup else { return sortKeys }
    return [group.key] + group.sortKeys
  }
}
