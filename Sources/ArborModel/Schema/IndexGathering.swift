/// Gathers the indexes that cover an entity, its ancestors' included, with their columns resolved.
struct IndexGathering {
  let model: ManagedObjectModel
  let attributes: [AttributeDescription]
  let relationships: [RelationshipSchema]

  func indexes(lineage: [Int]) throws(ArborError) -> [IndexSchema] {
    var schemas: [IndexSchema] = []
    for entity in lineage.reversed() {
      for index in model.entities[entity].keptIndexes(where: { source(of: $0) != nil }) {
        schemas.append(
          IndexSchema(
            name: index.name, declaringEntity: entity, isUnique: index.isUnique,
            columns: index.columns.compactMap { column in
              source(of: column).map {
                IndexSchema.Column(source: $0, isAscending: column.isAscending, kind: column.kind)
              }
            }, condition: try condition(of: index)))
      }
    }
    return schemas
  }

  private func condition(of index: KeptIndex) throws(ArborError) -> IndexCondition? {
    guard let condition = index.condition else { return nil }
    return try IndexCondition(condition)
  }

  private func source(of column: KeptIndex.Column) -> IndexSchema.Column.Source? {
    if let slot = attributes.firstIndex(where: { $0.name == column.property }) {
      return column.fits(attributes[slot]) ? .attribute(slot) : nil
    }
    let relationship = relationships.first { $0.name == column.property }
    guard let relationship, column.fits(relationship.description) else { return nil }
    return .toOne(relationship.slot)
  }
}

/// An index as an entity asks for it, by an attribute's mark, a declaration or a constraint.
struct KeptIndex: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let property: String
    let isAscending: Bool
    let kind: IndexSchema.Column.Kind

    init(_ property: String, isAscending: Bool = true, kind: IndexSchema.Column.Kind = .plain) {
      self.property = property
      self.isAscending = isAscending
      self.kind = kind
    }

    /// The column of a declared element; nil for an expression that no column keeps.
    init?(_ element: FetchIndexDescription.Element) {
      guard element.isExpression else {
        // Words have no direction.
        self.init(
          element.property, isAscending: element.isAscending || element.kind == .text,
          kind: Self.kind(of: element.kind))
        return
      }
      guard let property = element.foldedProperty else { return nil }
      self.init(property, isAscending: element.isAscending, kind: Self.kind(of: .folded))
    }

    private static func kind(
      of kind: FetchIndexDescription.Element.Kind
    ) -> IndexSchema.Column.Kind {
      switch kind {
      case .binary, .rTree: .plain
      case .folded: .folded([.case, .diacritics])
      case .text: .tokens
      }
    }

    /// Whether an attribute can be this column.
    func fits(_ attribute: AttributeDescription) -> Bool {
      guard attribute.isIndexable else { return false }
      if case .plain = kind { return true }
      return attribute.type == .string
    }

    /// Whether a relationship can be this column.
    func fits(_ relationship: RelationshipDescription) -> Bool {
      guard case .plain = kind else { return false }
      return !relationship.isToMany && !relationship.isTransient
    }
  }

  var name: String
  let columns: [Column]
  var isUnique: Bool
  var condition: String?
}

extension FetchIndexDescription.Element {
  /// The functions of one attribute that a folded column serves.
  static let foldingFunctions = ["canonical", "lowercase", "uppercase"]

  /// The attribute in an expression such as `canonical:(name)` or `lowercase(name)`; nil for any
  /// other.
  package var foldedProperty: String? {
    guard isExpression else { return nil }
    let text = property.filter { $0 != " " }
    for function in Self.foldingFunctions where text.hasPrefix(function) {
      var rest = text.dropFirst(function.count)
      if rest.hasPrefix(":") { rest = rest.dropFirst() }
      guard rest.hasPrefix("("), rest.hasSuffix(")") else { continue }
      let name = String(rest.dropFirst().dropLast())
      if ModelRules.flaw(ofName: name) == nil { return name }
    }
    return nil
  }
}

extension EntityDescription {
  /// The indexes that are kept for the entity's own declarations, each set of columns once.
  ///
  /// What an index is called and which of two equal ones is kept does not depend on the order of
  /// declaration: constraints come first, then declared indexes by name, unique ones before
  /// others, then marked attributes.
  ///
  /// - Parameter isColumn: Whether a column's property, own or inherited, can be one. An index with
  ///   another one is not kept, nor is one over an expression that no column keeps.
  func keptIndexes(where isColumn: (KeptIndex.Column) -> Bool) -> [KeptIndex] {
    var kept = KeptIndexes()
    func keep(
      _ name: String, _ columns: [KeptIndex.Column], isUnique: Bool, condition: String? = nil
    ) {
      guard !columns.isEmpty, columns.allSatisfy(isColumn) else { return }
      kept.add(KeptIndex(name: name, columns: columns, isUnique: isUnique, condition: condition))
    }
    let constraints = uniquenessConstraints.map { columns in
      (name: columns.count == 1 ? columns[0] : columns.joined(separator: "+"), columns: columns)
    }
    for constraint in constraints.sorted(by: { $0.name < $1.name }) {
      keep(constraint.name, constraint.columns.map { .init($0) }, isUnique: true)
    }
    let declared = fetchIndexes.sorted {
      $0.isUnique == $1.isUnique ? $0.name < $1.name : $0.isUnique
    }
    for index in declared {
      let columns = index.elements.compactMap(KeptIndex.Column.init)
      guard columns.count == index.elements.count else { continue }
      guard index.isOfWords, columns.count > 1 else {
        keep(index.name, columns, isUnique: index.isUnique, condition: index.partialIndexPredicate)
        continue
      }
      // The words of each attribute are kept by themselves, so that they serve predicates too.
      guard columns.allSatisfy(isColumn) else { continue }
      for column in columns {
        keep(
          index.name(ofWordsIn: column.property), [column], isUnique: false,
          condition: index.partialIndexPredicate)
      }
    }
    for name in attributes.filter(\.isIndexed).map(\.name).sorted() {
      keep(name, [.init(name)], isUnique: false)
    }
    return kept.indexes
  }
}

/// Indexes of one entity, each set of columns and each name once.
private struct KeptIndexes {
  private(set) var indexes: [KeptIndex] = []
  private var contents: Set<KeptIndex> = []
  private var names: Set<String> = []

  /// Adds an index unless there is one of its columns and condition; a name that is taken gets a
  /// prime.
  mutating func add(_ index: KeptIndex) {
    let content = KeptIndex(
      name: "", columns: index.columns, isUnique: false, condition: index.condition)
    guard contents.insert(content).inserted else { return }
    var kept = index
    while !names.insert(kept.name).inserted { kept.name += "'" }
    indexes.append(kept)
  }
}

extension AttributeDescription {
  /// Whether an index can hold the attribute: a transient one is not stored, and values without a
  /// type, or outside of the records, have no order worth keeping.
  var isIndexable: Bool { !isTransient && FieldKind(type) != .tagged && !mayLieOutside }
}
