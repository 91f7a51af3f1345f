/// One index of a store: what it is over, how large it is and how much it is used.
///
/// ```swift
/// for index in try store.indexes() where index.uses == 0 { print(index) }
/// // Employee.byName (folded name) · 10000 entries · 53 pages · not used
/// ```
public struct IndexStatistics: Sendable, Hashable {
  /// The name of the entity that declares the index; its subentities' objects are in it too.
  public let entity: String
  /// The index's name; that of the attribute for one that is marked `indexed`.
  public let name: String
  /// The columns, most significant first.
  public let columns: [FetchIndexDescription.Element]
  /// Whether no two objects in the index have the same values.
  public let isUnique: Bool
  /// The predicate that the objects of a partial index fulfil; nil for an index of all objects.
  public let condition: String?
  /// The number of entries: one for each object, in a partial index fewer, in one of words several.
  public let entries: Int
  /// The number of pages that the index fills in the file. Where objects share values and there are
  /// more than 4096 leaf pages, it is estimated from 4096 of them.
  public let pages: Int
  /// The number of bytes that the index fills in the file.
  public let bytes: Int
  /// How many fetches of this process have used the index since the store was opened.
  public let uses: Int

  /// Whether only the objects that fulfil a condition are in the index.
  public var isPartial: Bool { condition != nil }

  /// Describes an index.
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
  /// The index on one line.
  public var description: String {
    let index = FetchIndexDescription(
      name: name, elements: columns, partialIndexPredicate: condition, isUnique: isUnique)
    let uses = uses == 0 ? "not used" : uses == 1 ? "used once" : "used \(uses) times"
    return "\(entity).\(name) \(index.summary) · \(entries) \(entries == 1 ? "entry" : "entries")"
      + " · \(pages) \(pages == 1 ? "page" : "pages") · \(uses)"
  }
}
