extension StoreSpace {
  /// One of the databases in a store's file.
  public struct Database: Sendable, Hashable {
    /// What a database holds.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The objects of an entity, without those of its subentities.
      case records
      /// An index, for its entity and the subentities.
      case index
      /// The members of a to-many relationship.
      case relationship
      /// The order of the members of an ordered relationship.
      case order
      /// The binaries of an entity that lie outside of their records.
      case largeBinaries
      /// What the last commits changed.
      case history
      /// The model, the header and metadata.
      case store
    }

    /// What it holds.
    public let kind: Kind
    /// The entity; of an index or a relationship the one that declares it.
    public let entity: String?
    /// The name of the index or relationship.
    public let name: String?
    /// What the engine calls it, which no renaming in the model changes.
    public let storedName: String
    /// How many entries there are: records, index entries, members, chunks of binaries.
    public let entries: Int
    /// How many pages it fills.
    public let pages: Int
    /// The same in bytes.
    public let bytes: Int
    /// The share of its leaf pages that holds something, from 0 to 1; nil where there is nothing.
    /// Exact for few leaf pages, else that of some which are spread evenly.
    public let fill: Double?
    /// Whether ``pages`` and ``bytes`` are estimated.
    public let isEstimated: Bool

    /// Describes a database.
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

    /// What it holds, in words: `index Employee.byName`.
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
