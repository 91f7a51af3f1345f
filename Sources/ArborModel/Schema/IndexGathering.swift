/// Gathers the indexes that cover an entity, its ancestors' included, with their columns resolved.
struct IndexGathering {
  let model: ManagedObjectModel
  let attributes: [AttributeDescription]
  let relationships: [RelationshipSchema]

  func indexes(lineage: [Int]) -> [IndexSchema] {
    lineage.reversed().flatMap { entity in
      model.entities[entity].keptIndexes { source(of: $0) != nil }.map { index in
        IndexSchema(
          name: index.name, declaringEntity: entity, isUnique: index.isUnique,
          columns: index.columns.compactMap { column in
            source(of: column.property).map {
              IndexSchema.Column(source: $0, isAscending: column.isAscending)
            }
          })
      }
    }
  }

  private func source(of name: String) -> IndexSchema.Column.Source? {
    if let slot = attributes.firstIndex(where: { $0.name == name }) {
      return attributes[slot].isIndexable ? .attribute(slot) : nil
    }
    return relationships.first { $0.name == name && !$0.isToMany && !$0.description.isTransient }
      .map { .toOne($0.slot) }
  }
}

/// An index as an entity asks for it, by an attribute's mark, a declaration or a constraint.
struct KeptIndex: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let property: String
    let isAscending: Bool
  }

  let name: String
  let columns: [Column]
  let isUnique: Bool
}

extension EntityDescription {
  /// The indexes that are kept for the entity's own declarations, each set of columns once.
  ///
  /// What an index is called and which of two equal ones is kept does not depend on the order of
  /// declaration: constraints come first, then declared indexes by name, then marked attributes.
  ///
  /// - Parameter isColumn: Whether a property, own or inherited, can be a column. An index with
  ///   another one, over an expression or under a predicate is not kept.
  func keptIndexes(where isColumn: (String) -> Bool) -> [KeptIndex] {
    var kept: [KeptIndex] = []
    func keep(_ name: String, _ columns: [KeptIndex.Column], isUnique: Bool) {
      guard !columns.isEmpty, columns.allSatisfy({ isColumn($0.property) }),
        !kept.contains(where: { $0.columns == columns })
      else { return }
      var unused = name
      while kept.contains(where: { $0.name == unused }) { unused += "'" }
      kept.append(KeptIndex(name: unused, columns: columns, isUnique: isUnique))
    }
    let constraints = uniquenessConstraints.map { columns in
      (name: columns.count == 1 ? columns[0] : columns.joined(separator: "+"), columns: columns)
    }
    for constraint in constraints.sorted(by: { $0.name < $1.name }) {
      let columns = constraint.columns.map { KeptIndex.Column(property: $0, isAscending: true) }
      keep(constraint.name, columns, isUnique: true)
    }
    for index in fetchIndexes.sorted(by: { $0.name < $1.name })
    where index.partialIndexPredicate == nil && !index.elements.contains(where: \.isExpression) {
      let columns = index.elements.map {
        KeptIndex.Column(property: $0.property, isAscending: $0.isAscending)
      }
      keep(index.name, columns, isUnique: false)
    }
    for name in attributes.filter(\.isIndexed).map(\.name).sorted() {
      keep(name, [KeptIndex.Column(property: name, isAscending: true)], isUnique: false)
    }
    return kept
  }
}

extension AttributeDescription {
  /// Whether an index can hold the attribute: a transient one is not stored, and values without a
  /// type have no order worth keeping.
  var isIndexable: Bool { !isTransient && FieldKind(type) != .tagged }
}
