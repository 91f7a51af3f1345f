/// The collection of the indexes that cover an entity, including those of its ancestors, with
/// resolved columns.
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
                let kind = column.kind(of: $0)
                // Elements have no direction.
                return IndexSchema.Column(
                  source: $0, isAscending: column.isAscending || kind == .elements, kind: kind)
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
    if let slot = attributes.firstIndex(where: { $0.name == column.firstName }) {
      guard column.fits(attributes[slot]) else { return nil }
      return column.part(of: attributes[slot]).map { .part(slot, $0) } ?? .attribute(slot)
    }
    let relationship = relationships.first { $0.name == column.property }
    guard let relationship, column.fits(relationship.description) else { return nil }
    return .toOne(relationship.slot)
  }
}

/// An index that an entity requests through an attribute's option, a declaration or a constraint.
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

    /// Creates the column of a declared element, or returns `nil` for an expression that cannot be
    /// indexed.
    init?(_ element: FetchIndexDescription.Element) {
      guard element.isExpression else {
        // Words have no sort direction.
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

    /// The name of the property, or of the JSON attribute that contains the part.
    var firstName: String { String(property.prefix { $0 != "." }) }

    /// Returns the part of a JSON attribute that the column contains, or `nil` if there isn't one or
    /// it has no type that can be indexed.
    func part(of attribute: AttributeDescription) -> CodablePath? {
      guard attribute.type == .json, !attribute.isTransient, !attribute.mayLieOutside else {
        return nil
      }
      let names = property.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
      guard let part = try? CodablePath(names: names.map(String.init), of: attribute) else {
        return nil
      }
      // The whole value of an attribute is a value of its own only as a list.
      return part.elementKind != nil || part.fieldKind != nil && !part.keys.isEmpty ? part : nil
    }

    /// Returns the form in which the column stores the values of a source.
    func kind(of source: IndexSchema.Column.Source) -> IndexSchema.Column.Kind {
      if case .part(_, let part) = source, part.element != nil { .elements } else { kind }
    }

    func fits(_ attribute: AttributeDescription) -> Bool {
      if let part = part(of: attribute) {
        return switch kind {
        case .plain: true
        case .folded: part.fieldKind == .string
        case .tokens, .elements: false
        }
      }
      guard attribute.isIndexable, attribute.name == property else { return false }
      if case .plain = kind { return true }
      return attribute.type == .string
    }

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
  /// The functions of an attribute that a folded column supports.
  static let foldingFunctions = ["canonical", "lowercase", "uppercase"]

  /// The attribute in an expression such as `canonical:(name)` or `lowercase(name)`, or `nil` for
  /// any other expression.
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
  /// Returns the stored indexes for the entity's own declarations. Each set of columns is stored
  /// only once.
  ///
  /// The names of the indexes, and which of two equivalent ones is stored, don't depend on the
  /// order of declaration. Constraints come first, then declared indexes by name with unique ones
  /// first, and then indexed attributes.
  ///
  /// - Parameter isColumn: A closure that returns whether a column's property, own or inherited,
  ///   can be indexed. Indexes with any other column, or with an expression that cannot be indexed,
  ///   are not stored.
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
      // The words of each attribute are stored separately, so that predicates can use them, too.
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

/// The stored indexes of one entity. No two have the same name, or the same columns and condition.
private struct KeptIndexes {
  private(set) var indexes: [KeptIndex] = []
  private var contents: Set<KeptIndex> = []
  private var names: Set<String> = []

  /// Adds an index unless one with the same columns and condition exists. Appends a prime to its
  /// name if another index has that name.
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
  /// Whether the attribute is a list of strings, numbers or Booleans in JSON, whose elements can be
  /// indexed.
  var isIndexableList: Bool { KeptIndex.Column(name).part(of: self)?.element != nil }

  /// Whether the attribute can be indexed. Transient attributes are not stored, and values that
  /// have no type or are stored outside the record have no useful order.
  package var isIndexable: Bool {
    !isTransient && ![.tagged, .json].contains(FieldKind(type)) && !mayLieOutside
  }
}
