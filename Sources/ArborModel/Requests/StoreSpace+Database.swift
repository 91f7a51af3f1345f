extension StoreSpace {
  /// A database in a store's file.
  public struct Database: Sendable, Hashable {
    /// The contents of a database.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The objects of an entity, without those of its subentities.
      case records
      /// An index of an entity and its subentities.
      case index
      /// The members of a to-many relationship.
      case relationship
      /// The order of the members of an ordered relationship.
      case order
      /// The binary values of an entity that are stored outside their records.
      case largeBinaries
      /// The changes of recent commits.
      case history
      /// The model, the header and metadata.
      case store
    }

    /// The contents of the database.
    public let kind: Kind
    /// The name of the entity; for an index or a relationship, that of the declaring entity. `nil`
    /// if the database doesn't belong to an entity.
    public let entity: String?
    /// The name of the index or relationship, or `nil` if the database doesn't belong to one.
    public let name: String?
    /// The name of the database in the storage engine. It stays the same when a part of the model
    /// is renamed.
    public let storedName: String
    /// The number of entries: records, index entries, members or chunks of binary values.
    public let entries: Int
    /// The number of pages that the database occupies.
    public let pages: Int
    /// The size of the pages in bytes.
    public let bytes: Int
    /// The fill factor of the leaf pages, from 0 to 1, or `nil` if the database is empty. Exact if
    /// there are few leaf pages, otherwise based on an evenly distributed sample.
    public let fill: Double?
    /// A Boolean value that indicates whether ``pages`` and ``bytes`` are estimates.
    public let isEstimated: Bool

    package init(
      kind: Kind, entity: String? = nil, name: String? = nil, storedName: String, entries: Int,
      pages: Int, bytes: Int, fill: Double?, isEstimated: Bool
    ) {
      self.kind = kind
      self.entity = entity
      self.name = name
      self.storedName = storedName
      self.entries = entries
      self.pages = pages
      self.bytes = bytes
      self.fill = fill
      self.isEstimated = isEstimated
    }

    /// The contents in human-readable form: `index Employee.byName`.
    package var title: String {
      switch (kind, entity, name) {
      case (.records, let entity?, _): "records of \(entity)"
      case (.largeBinaries, let entity?, _): "large binaries of \(entity)"
      case (.index, let entity?, let name?): "index \(entity).\(name)"
      case (.relationship, let entity?, let name?): "relationship \(entity).\(name)"
      case (.order, let entity?, let name?): "order of \(entity).\(name)"
      case (.history, _, _): "history"
      case (.store, _, _): "model and metadata"
      default: storedName
      }
    }
  }
}

extension StoreSpace.Database: CustomStringConvertible {
  /// The database on one line.
  public var description: String {
    let about = isEstimated ? "about " : ""
    let fill = fill.map { " · \(Int(($0 * 100).rounded())) % full" } ?? ""
    return "\(title) · \(entries) \(entries == 1 ? "entry" : "entries")"
      + " · \(about)\(pages) \(pages == 1 ? "page" : "pages")\(fill)"
  }
}
