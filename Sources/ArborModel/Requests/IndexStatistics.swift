/// The columns, size and usage of an index of a store.
///
/// ```swift
/// for index in try store.indexes() where index.uses == 0 { print(index) }
/// // Employee.byName (folded name) · 10000 entries · 53 pages · not used
/// ```
public struct IndexStatistics: Sendable, Hashable {
  /// The name of the entity that declares the index. The index also contains the objects of
  /// subentities.
  public let entity: String
  /// The index's name, or the attribute's name if the attribute is marked `indexed`.
  public let name: String
  /// The columns, most significant first.
  public let columns: [FetchIndexDescription.Element]
  /// A Boolean value that indicates whether no two objects in the index have the same values.
  public let isUnique: Bool
  /// The predicate of a partial index, or `nil` if the index contains all objects.
  public let condition: String?
  /// The number of entries: one per object in an index of all objects, fewer in a partial index,
  /// and several per object in a full-text index.
  public let entries: Int
  /// The number of pages that the index occupies in the file. Estimated from a sample of 4096 leaf
  /// pages if objects share values and there are more leaf pages than that.
  public let pages: Int
  /// The number of bytes that the index occupies in the file.
  public let bytes: Int
  /// The number of fetches in this process that have used the index since the store was opened.
  public let uses: Int

  /// A Boolean value that indicates whether the index contains only objects that satisfy a
  /// condition.
  public var isPartial: Bool { condition != nil }

  package init(
    entity: String, name: String, columns: [FetchIndexDescription.Element], isUnique: Bool = false,
    condition: String? = nil, entries: Int, pages: Int, bytes: Int, uses: Int
  ) {
    self.entity = entity
    self.name = name
    self.columns = columns
    self.isUnique = isUnique
    self.condition = condition
    self.entries = entries
    self.pages = pages
    self.bytes = bytes
    self.uses = uses
  }
}

extension IndexStatistics: CustomStringConvertible {
  /// The statistics on one line.
  public var description: String {
    let index = FetchIndexDescription(
      name: name, elements: columns, partialIndexPredicate: condition, isUnique: isUnique)
    let uses = uses == 0 ? "not used" : uses == 1 ? "used once" : "used \(uses) times"
    return "\(entity).\(name) \(index.summary) · \(entries) \(entries == 1 ? "entry" : "entries")"
      + " · \(pages) \(pages == 1 ? "page" : "pages") · \(uses)"
  }
}
