/// Gathers the indexes that cover an entity: those of indexed attributes, declared ones and those
/// that uniqueness constraints need, its ancestors' included.
struct IndexGathering {
  let model: ManagedObjectModel
  let attributes: [AttributeDescription]
  let relationships: [RelationshipSchema]

  func indexes(lineage: [Int]) -> [IndexSchema] {
    var indexes: [IndexSchema] = []
    for entityIndex in lineage.reversed() {
      let entity = model.entities[entityIndex]
      var own: [IndexSchema] = []
      for constraint in entity.uniquenessConstraints {
        add(
          constraint.joined(separator: "+"), constraint.map { (name: $0, isAscending: true) },
          isUnique: true, of: entityIndex, to: &own)
      }
      for index in entity.fetchIndexes where index.partialIndexPredicate == nil {
        guard !index.elements.contains(where: \.isExpression) else { continue }
        add(
          index.name, index.elements.map { (name: $0.property, isAscending: $0.isAscending) },
          isUnique: false, of: entityIndex, to: &own)
      }
      for attribute in entity.attributes where attribute.isIndexed {
        add(
          attribute.name, [(name: attribute.name, isAscending: true)], isUnique: false,
          of: entityIndex, to: &own)
      }
      indexes += own
    }
    return indexes
  }

  /// Adds an index unless one with the same columns is there already, or a column is neither an
  /// attribute nor a to-one relationship of the entity.
  private func add(
    _ name: String, _ columns: [(name: String, isAscending: Bool)], isUnique: Bool, of entity: Int,
    to indexes: inout [IndexSchema]
  ) {
    var resolved: [IndexSchema.Column] = []
    for column in columns {
      guard let source = source(of: column.name) else { return }
      resolved.append(IndexSchema.Column(source: source, isAscending: column.isAscending))
    }
    let isServed = indexes.contains { index in
      index.columns.count == resolved.count
        && zip(index.columns, resolved).allSatisfy {
          $0.source == $1.source && $0.isAscending == $1.isAscending
        }
    }
    guard !isServed, !resolved.isEmpty else { return }
    var unused = name
    while indexes.contains(where: { $0.name == unused }) { unused += "'" }
    indexes.append(
      IndexSchema(
        name: unused, declaringEntity: entity, isUnique: isUnique, columns: resolved))
  }

  private func source(of name: String) -> IndexSchema.Column.Source? {
    if let slot = attributes.firstIndex(where: { $0.name == name }) {
      return attributes[slot].isIndexable ? .attribute(slot) : nil
    }
    return relationships.first { $0.name == name && !$0.isToMany }.map { .toOne($0.slot) }
  }
}

extension AttributeDescription {
  /// Whether an index can hold the attribute: a transient one is not stored, and values without a
  /// type have no order worth keeping.
  var isIndexable: Bool { !isTransient && FieldKind(type) != .tagged }
}
