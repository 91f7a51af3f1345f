internal import ArborModel
internal import LMDB

/// The write plan of a concrete entity: the indexes, references and inbound links to maintain when
/// its records are written. Compiled once from its ``EntitySchema``.
final class WritePlan: Sendable {
  /// An index to maintain.
  struct Index: Sendable {
    /// The index's number in the store.
    let number: Int
    let keys: IndexKeys
    let fields: [RecordField]
    let isUnique: Bool
    /// Whether each record has exactly one key, derived from its values.
    let isPlain: Bool
    /// Whether each record has a key per word of a text.
    let isText: Bool
    /// The list in JSON for each of whose elements a record has a key, or `nil` for any other index.
    let elements: CodablePath?

    init(_ index: IndexSchema, of entity: EntitySchema, number: Int) {
      self.number = number
      keys = IndexKeys(index, of: entity)
      fields = index.columns.map { entity.field(of: $0.source) }
      isUnique = index.isUnique
      isPlain = index.isPlain
      isText = index.isText
      elements =
        if let column = index.columns.first, column.kind == .elements,
          case .part(_, let path) = column.source
        {
          path
        } else {
          nil
        }
    }
  }

  /// A to-one relationship whose target must exist.
  struct Reference: Sendable {
    let field: RecordField
    let slot: Int
    /// The number of the relationship that is derived from the field, or `nil` if the inverse is
    /// stored otherwise.
    let derivedIndex: Int?
    /// The number of the to-many inverse, derived or stored as links, or `nil` if the inverse is
    /// to-one.
    let listIndex: Int?
  }

  /// A kind of reference that other objects can have to a deleted one.
  enum Inbound: Sendable {
    /// To-one fields of other objects, found through the derived relationship with this number.
    case derived(relationshipIndex: Int, inverse: RelationshipSchema)
    /// Links from other objects, found through this object's own links, and how they refer back.
    case links(relationshipIndex: Int, inverse: RelationshipSchema, back: Back)
    /// A field of this object that refers to the other one, and how that one refers back.
    case field(RecordField, inverse: RelationshipSchema, back: Back)
  }

  /// The location of the reference back.
  enum Back: Sendable {
    /// A to-one field.
    case field
    /// The relationship database with this number.
    case links(relationshipIndex: Int, isOrdered: Bool)
  }

  let entity: EntitySchema
  let records: Database
  let indexes: [Index]
  let references: [Reference]
  let inbound: [Inbound]
  /// The attributes whose values the history preserves when their object is deleted.
  let preserved: [AttributeSchema]

  private init(_ entity: EntitySchema, _ schema: ModelSchema, _ databases: StoreDatabases) {
    self.entity = entity
    preserved = entity.attributes.filter {
      $0.description.isPreservedOnDeletion && !$0.field.isTransient
    }
    records = databases.records(entity.index)
    let numbers = databases.indexNumbers(of: entity.index)
    indexes = zip(entity.indexes, numbers).map { Index($0, of: entity, number: $1) }
    var references: [Reference] = []
    var inbound: [Inbound] = []
    for relationship in entity.relationships {
      let inverse = schema.inverse(of: relationship)
      let inverseIndex = databases.relationshipIndex(
        entity: relationship.destination, slot: inverse.slot)
      let ownIndex = databases.relationshipIndex(entity: entity.index, slot: relationship.slot)
      switch relationship.storage {
      case .field(let index):
        let field = entity.layout.fields[index]
        guard !field.isTransient else { continue }
        let isDerived = inverse.storage == .derived
        references.append(
          Reference(
            field: field, slot: relationship.slot, derivedIndex: isDerived ? inverseIndex : nil,
            listIndex: inverseIndex))
        if !isDerived, let back = Self.back(inverse, relationshipIndex: inverseIndex) {
          inbound.append(.field(field, inverse: inverse, back: back))
        }
      case .derived:
        if let ownIndex { inbound.append(.derived(relationshipIndex: ownIndex, inverse: inverse)) }
      case .links:
        if let ownIndex, let back = Self.back(inverse, relationshipIndex: inverseIndex) {
          inbound.append(.links(relationshipIndex: ownIndex, inverse: inverse, back: back))
        }
      }
    }
    self.references = references
    self.inbound = inbound
  }

  private static func back(_ inverse: RelationshipSchema, relationshipIndex: Int?) -> Back? {
    switch inverse.storage {
    case .field: return .field
    case .links:
      return relationshipIndex.map { .links(relationshipIndex: $0, isOrdered: inverse.isOrdered) }
    case .derived: return nil
    }
  }

  /// Returns the plans of all entities in order. `nil` for abstract ones.
  static func all(of schema: ModelSchema, databases: StoreDatabases) -> [WritePlan?] {
    schema.entities.map { $0.isAbstract ? nil : WritePlan($0, schema, databases) }
  }
}
