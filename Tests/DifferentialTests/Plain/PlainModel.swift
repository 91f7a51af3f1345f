import ArborModel

/// The model of a naive graph.
struct PlainModel {
  enum Kind: CaseIterable {
    case integer16, integer32, integer64, boolean, float, double, decimal
    case text, date, bytes, uuid, uri

    var type: AttributeType {
      switch self {
      case .integer16: .integer16
      case .integer32: .integer32
      case .integer64: .integer64
      case .boolean: .boolean
      case .float: .float
      case .double: .double
      case .decimal: .decimal
      case .text: .string
      case .date: .date
      case .bytes: .binary
      case .uuid: .uuid
      case .uri: .uri
      }
    }

    var family: PlainValue.Family {
      switch self {
      case .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal: .number
      case .text: .text
      case .date: .date
      case .bytes: .bytes
      case .uuid: .uuid
      case .uri: .uri
      }
    }
  }

  struct Attribute {
    var name: String
    var kind: Kind
    var isOptional: Bool
    var isUnique = false
    /// Whether its strings are words, for which the platform's collation is a consistent order. It
    /// isn't one for strings of control characters and isolated combining marks.
    var hasWords = false
  }

  /// An attribute of named parts, all of which are optional.
  struct Composite {
    var name: String
    var parts: [Attribute]
  }

  struct Relationship {
    var name: String
    /// The indexes of the declaring entity and of the destination.
    var owner: Int
    var destination: Int
    var isToMany: Bool
    var isOrdered: Bool
    /// The name of the inverse relationship; `nil` if there isn't one.
    var inverse: String?
  }

  struct Index {
    enum Order { case plain, folded, words }

    struct Column {
      var property: String
      var isAscending = true
      var order = Order.plain
    }

    var name: String
    var columns: [Column]
    /// The condition of a partial index.
    var condition: PlainPredicate?
  }

  struct Entity {
    var name: String
    var parent: Int?
    var isAbstract: Bool
    var attributes: [Attribute] = []
    var composites: [Composite] = []
    var relationships: [Relationship] = []
    var indexes: [Index] = []
    var uniqueness: [[String]] = []
  }

  var entities: [Entity] = []

  /// Returns an entity and its ancestors, nearest first.
  func lineage(_ entity: Int) -> [Int] {
    var lineage = [entity]
    while let parent = entities[lineage[lineage.count - 1]].parent { lineage.append(parent) }
    return lineage
  }

  func attributes(_ entity: Int) -> [Attribute] {
    lineage(entity).reversed().flatMap { entities[$0].attributes }
  }

  func composites(_ entity: Int) -> [Composite] {
    lineage(entity).reversed().flatMap { entities[$0].composites }
  }

  func relationships(_ entity: Int) -> [Relationship] {
    lineage(entity).reversed().flatMap { entities[$0].relationships }
  }

  func relationship(_ name: String, of entity: Int) -> Relationship? {
    relationships(entity).first { $0.name == name }
  }

  func isKind(_ entity: Int, of ancestor: Int) -> Bool { lineage(entity).contains(ancestor) }

  /// The entities that can be instantiated.
  var concrete: [Int] { entities.indices.filter { !entities[$0].isAbstract } }

  /// Returns the equivalent model of the library, with or without its indexes.
  func described(withIndexes: Bool) throws -> ManagedObjectModel {
    let model = ManagedObjectModel(
      entities: entities.map { describe($0, withIndexes) },
      composites: entities.flatMap(\.composites).map { composite in
        CompositeDescription(
          name: composite.typeName, attributes: composite.parts.map(describe))
      },
      versionIdentifier: "1")
    return try model.validated()
  }

  private func describe(_ entity: Entity, _ withIndexes: Bool) -> EntityDescription {
    var description = EntityDescription(
      name: entity.name, isAbstract: entity.isAbstract,
      parent: entity.parent.map { entities[$0].name })
    for attribute in entity.attributes {
      description.attributes.append(describe(attribute))
    }
    for composite in entity.composites {
      var described = AttributeDescription(
        name: composite.name, type: .composite(composite.typeName))
      described.isOptional = true
      description.attributes.append(described)
    }
    for relationship in entity.relationships {
      var described = RelationshipDescription(
        name: relationship.name, destination: entities[relationship.destination].name,
        inverse: relationship.inverse)
      described.isToMany = relationship.isToMany
      described.isOrdered = relationship.isOrdered
      description.relationships.append(described)
    }
    guard withIndexes else { return description }
    description.fetchIndexes = entity.indexes.map { index in
      FetchIndexDescription(
        name: index.name,
        elements: index.columns.map {
          .init($0.property, isAscending: $0.isAscending, kind: $0.order.kind)
        },
        partialIndexPredicate: index.condition?.text)
    }
    description.uniquenessConstraints = entity.uniqueness
    return description
  }

  private func describe(_ attribute: Attribute) -> AttributeDescription {
    var described = AttributeDescription(name: attribute.name, type: attribute.kind.type)
    described.isOptional = attribute.isOptional
    return described
  }
}

extension PlainModel.Composite {
  /// The name of the composite type, of which every composite attribute has its own.
  fileprivate var typeName: String { "T\(name)" }
}

extension PlainModel.Index.Order {
  fileprivate var kind: FetchIndexDescription.Element.Kind {
    switch self {
    case .plain: .binary
    case .folded: .folded
    case .words: .text
    }
  }
}

extension PlainModel: CustomStringConvertible {
  var description: String {
    entities.map { entity in
      var lines = ["\(entity.isAbstract ? "abstract " : "")entity \(entity.name)"]
      if let parent = entity.parent { lines[0] += ": \(entities[parent].name)" }
      for attribute in entity.attributes {
        lines.append("  \(attribute.name): \(attribute.kind)\(attribute.isOptional ? "?" : "")")
      }
      for composite in entity.composites {
        let parts = composite.parts.map { "\($0.name): \($0.kind)" }
        lines.append("  \(composite.name): (\(parts.joined(separator: ", ")))?")
      }
      for relationship in entity.relationships {
        let many = relationship.isToMany ? (relationship.isOrdered ? " ordered" : " many") : ""
        lines.append(
          "  \(relationship.name) →\(many) \(entities[relationship.destination].name)"
            + " (\(relationship.inverse ?? "no inverse"))")
      }
      for index in entity.indexes {
        let columns = index.columns.map { column in
          (column.isAscending ? "" : "-") + column.property
            + (column.order == .plain ? "" : " \(column.order)")
        }
        let condition = index.condition.map { " where \($0.text)" } ?? ""
        lines.append("  index \(columns.joined(separator: ", "))\(condition)")
      }
      for constraint in entity.uniqueness {
        lines.append("  unique \(constraint.joined(separator: ", "))")
      }
      return lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }
}
