internal import ArborModel
internal import ArborStore

extension MigrationSurvey {
  /// Finds objects that will share unique values that a pass restores, or the defaults that replace
  /// missing ones. The store searches unique values that need no pass.
  ///
  /// Omits indexes with folded columns or a condition, and values that are computed.
  ///
  /// - Parameter target: The newer model, with its constraints.
  func duplicates(in target: ManagedObjectModel) throws(ArborError) -> [MigrationPlan.Obstacle] {
    var found: [MigrationPlan.Obstacle] = []
    for entity in target.entities {
      for unique in uniqueValues(of: entity, target) {
        var list = ObjectList(entity: entity.name)
        let isFilled = try addShared(to: &list, unique, target)
        guard list.count > 0 else { continue }
        let message = MigrationObstacle.sharedValues(
          of: entity.name, unique.properties, isAdded: unique.isAdded, list.words,
          isFilled: isFilled,
          "Change the values with the former model, or use a MigrationStep to change them")
        found.append(list.obstacle(unique.properties.first, message))
      }
    }
    return found
  }

  /// Properties whose combined values are unique in the newer model.
  private struct UniqueValues {
    let entity: String
    let properties: [String]
    /// Whether they may be shared in the older model.
    let isAdded: Bool
  }

  /// Returns the unique combinations of plain values of an entity that include a value from a pass.
  private func uniqueValues(
    of entity: EntityDescription, _ target: ManagedObjectModel
  ) -> [UniqueValues] {
    let attributes = target.lineage(of: entity).flatMap(\.attributes)
    var added: Set<[String]> = []
    for change in models.difference.changes where change.entity == entity.name {
      switch change.kind {
      case .index(.uniquenessAdded(let properties)): added.insert(properties)
      case .index(.added(let index)): added.insert(index.elements.map(\.property))
      case .index(.changed(let former, let index)) where !former.isUnique:
        added.insert(index.elements.map(\.property))
      default: break
      }
    }
    let indexes = entity.fetchIndexes.filter { index in
      index.isUnique && index.partialIndexPredicate == nil
        && index.elements.allSatisfy { element in
          !element.isExpression && [.binary, .rTree].contains(element.kind)
            && attributes.contains { $0.name == element.property && $0.isIndexable }
        }
    }.map { $0.elements.map(\.property) }
    let constraints = entity.uniquenessConstraints
    return (constraints + indexes.filter { !constraints.contains($0) }).compactMap { properties in
      let isFilled = properties.contains { models.fills($0, of: entity.name) }
      let isComputed = attributes.contains {
        $0.derivation != nil && properties.contains($0.name)
      }
      guard isFilled, !isComputed else { return nil }
      return UniqueValues(
        entity: entity.name, properties: properties, isAdded: added.contains(properties))
    }
  }

  /// The source of the values of a property that is unique in the newer model.
  private struct Column {
    /// The name of the property in the older model, or `nil` if that model doesn't contain its
    /// values.
    let source: String?
    /// The attribute of the newer model, or `nil` for a relationship.
    let attribute: AttributeDescription?
    /// Whether a pass converts the values.
    let isConverted: Bool

    /// The value of an object that lacks one.
    var filling: PropertyValue {
      guard let attribute else { return .null }
      return source == nil || !attribute.isOptional ? attribute.defaultValue : .null
    }

    /// Returns the present value of an object as the newer model stores it, or `nil` if the newer
    /// model cannot hold it.
    func value(of object: ManagedObject) throws(ArborError) -> PropertyValue? {
      guard let source else { return .null }
      let value = try object.value(forKey: source)
      guard isConverted, !value.isNull, let attribute else { return value }
      return attribute.type.exactly(value)
    }
  }

  /// Adds the objects that share values.
  ///
  /// - Returns: Whether shared values include a default that replaces `nil`.
  private func addShared(
    to list: inout ObjectList, _ unique: UniqueValues, _ target: ManagedObjectModel
  ) throws(ArborError) -> Bool {
    var counts: [[DistinctValue]: Int] = [:]
    try eachRow(of: unique, target) { _, values, _ in counts[values, default: 0] += 1 }
    var isDefaultShared = false
    try eachRow(of: unique, target) { object, values, isFilled in
      guard counts[values] ?? 0 > 1 else { return }
      list.add(object)
      if isFilled { isDefaultShared = true }
    }
    return isDefaultShared
  }

  /// Calls `body` with each object of an entity and its subentities whose unique values will all be
  /// non-`nil`, with these values, and with whether one of them is a default.
  private func eachRow(
    of unique: UniqueValues, _ target: ManagedObjectModel,
    _ body: (ManagedObject, [DistinctValue], _ isFilled: Bool) -> Void
  ) throws(ArborError) {
    let kinds = target.kinds(of: unique.entity)
    for (former, name) in models.keptNames.sorted(by: { $0.key < $1.key }) {
      guard kinds.contains(name), let entity = target.entity(named: name) else { continue }
      let sources = models.valueSources(of: entity)
      let attributes = target.lineage(of: entity).flatMap(\.attributes)
      let columns = unique.properties.map { property in
        Column(
          source: sources[property], attribute: attributes.first { $0.name == property },
          isConverted: models.fills(property, of: name))
      }
      try each(former) { (object) throws(ArborError) in
        var (values, isFilled): ([DistinctValue], Bool) = ([], false)
        for column in columns {
          guard var value = try column.value(of: object) else { return }
          if value.isNull {
            value = column.filling
            isFilled = true
          }
          if value.isNull { return }
          values.append(DistinctValue(value))
        }
        body(object, values, isFilled)
      }
    }
  }
}
