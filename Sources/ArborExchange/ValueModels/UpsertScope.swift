public import ArborModel

/// The objects that an upsert of value models may match and unlink.
///
/// A collection in a model replaces the members of its relationship, which unlinks members that the
/// collection lacks. If another source owns some of the members, limit the upsert to the source's
/// own objects, or let it only add members:
///
/// ```swift
/// let own = try FetchPredicate(format: "supplier.code == %@", "A")
/// try context.upsert(product, within: .objects(["Offer": own]))
/// try context.upsert(product, within: .additions)
/// ```
public struct UpsertScope: Sendable, Hashable {
  let predicates: [String: FetchPredicate]
  /// Whether nothing is unlinked.
  let onlyAdds: Bool

  /// All objects. Collections replace the members of their relationships.
  public static let all = UpsertScope(predicates: [:], onlyAdds: false)

  /// All objects, but nothing is unlinked: the elements of collections are added to the members of
  /// their relationships, or updated.
  public static let additions = UpsertScope(predicates: [:], onlyAdds: true)

  /// The objects of some entities that match a predicate, and all objects of other entities.
  ///
  /// Other objects are ignored, like those outside of ``SyncSerializer/groupers``: they are not
  /// matched by ``ValueModel/uniquingKeys``, and remain members of their relationships. In an
  /// ordered relationship, they come first.
  ///
  /// - Parameter predicates: The predicates by entity. A predicate also applies to the subentities
  ///   that have none themselves.
  public static func objects(_ predicates: [String: FetchPredicate]) -> UpsertScope {
    UpsertScope(predicates: predicates, onlyAdds: false)
  }

  /// Returns the predicate for an entity: its own or that of its nearest ancestor.
  func predicate(for entity: EntitySchema, in schema: ModelSchema) -> FetchPredicate? {
    guard !predicates.isEmpty else { return nil }
    return entity.lineage.lazy.compactMap { predicates[schema.entities[$0].name] }.first
  }
}
