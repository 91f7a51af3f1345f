internal import ArborModel
internal import ArborStore

extension MigrationSurvey {
  /// Finds objects that share values which become unique, or that become duplicates when `nil` is
  /// replaced by a default.
  ///
  /// - Parameter target: The newer model, with its constraints.
  func duplicates(in target: ManagedObjectModel) throws(ArborError) -> [MigrationPlan.Obstacle] {
    var added: Set<UniqueValues> = []
    for change in models.difference.changes {
      guard case .index(.uniquenessAdded(let properties)) = change.kind, let name = change.entity
      else { continue }
      added.insert(UniqueValues(entity: name, properties: properties))
    }
    var found: [MigrationPlan.Obstacle] = []
    for entity in target.entities {
      guard let former = models.formerName(of: entity.name) else { continue }
      for properties in entity.uniquenessConstraints {
        let unique = UniqueValues(entity: entity.name, properties: properties)
        let isAdded = added.contains(unique)
        let columns = properties.map { column($0, of: entity, former, target) }
        var list = ObjectList(entity: former)
        var isFilled = false
        if columns.contains(where: { !$0.filling.isNull }) {
          isFilled = try addFilled(to: &list, unique, target, isAdded: isAdded)
        } else if isAdded {
          try addEqual(to: &list, columns.compactMap(\.source), of: former, properties.count)
        }
        guard list.count > 0 else { continue }
        let subject = "\(entity.name).\(properties.joined(separator: ", "))"
        let cause = isFilled ? ", because nil becomes the default" : ""
        found.append(
          list.obstacle(
            properties.first,
            "\(subject) \(isAdded ? "becomes" : "is") unique, but \(list.words) with equal "
              + "values\(cause). Change the values with the former model, or use a MigrationStep "
              + "to change them."))
      }
    }
    return found
  }

  private struct UniqueValues: Hashable {
    let entity: String
    let properties: [String]
  }

  /// The source of the values of a property that is unique in the newer model.
  private struct Column {
    /// The name of the property in the older model, or `nil` if that model doesn't contain its
    /// values.
    let source: String?
    /// The value that replaces `nil`.
    let filling: PropertyValue
  }

  private func column(
    _ name: String, of entity: EntityDescription, _ former: String, _ target: ManagedObjectModel
  ) -> Column {
    let source = models.valueSources(of: entity)[name]
    let attribute = target.lineage(of: entity).lazy.flatMap(\.attributes).first { $0.name == name }
    guard let attribute else { return Column(source: source, filling: .null) }
    let before = source.flatMap {
      context.session.schema.entity(named: former)?.property(named: $0)
    }
    var mayBeNil = source == nil
    if case .attribute(let before) = before {
      mayBeNil = before.description.isOptional && !attribute.isOptional
    }
    return Column(source: source, filling: mayBeNil ? attribute.defaultValue : .null)
  }

  /// Adds the objects that share values.
  private func addEqual(
    to list: inout ObjectList, _ sources: [String], of former: String, _ count: Int
  ) throws(ArborError) {
    guard sources.count == count else { return }
    let request = FetchRequest<ManagedObject>(entity: former, sortKeys: sources.map { SortKey($0) })
    var last: (values: [PropertyValue], object: ManagedObject, isListed: Bool)?
    let cursor = try context.cursor(for: request)
    while let object = try cursor.next() {
      var values: [PropertyValue] = []
      for source in sources { values.append(try object.value(forKey: source)) }
      let isSame = last?.values == values && !values.contains(where: \.isNull)
      if isSame, let last {
        if !last.isListed { list.add(last.object) }
        list.add(object)
      }
      last = (values, object, isSame)
    }
  }

  /// Adds the objects that share values when a default replaces `nil`.
  ///
  /// - Parameter isAdded: Whether the uniqueness constraint is new, so that values without a
  ///   default may be shared as well. Otherwise, only values that include a default are kept in
  ///   memory.
  /// - Returns: Whether shared values include a default.
  private func addFilled(
    to list: inout ObjectList, _ unique: UniqueValues, _ target: ManagedObjectModel, isAdded: Bool
  ) throws(ArborError) -> Bool {
    var counts: [[PropertyValue]: Int] = [:]
    try eachRow(of: unique, target) { (_, values, isFilled) in
      if isAdded || isFilled { counts[values, default: 0] += 1 }
    }
    if !isAdded {
      try eachRow(of: unique, target) { (_, values, isFilled) in
        if !isFilled, let count = counts[values] { counts[values] = count + 1 }
      }
    }
    var isDefaultShared = false
    try eachRow(of: unique, target) { (object, values, isFilled) in
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
    _ body: (ManagedObject, [PropertyValue], _ isFilled: Bool) -> Void
  ) throws(ArborError) {
    for (former, name) in models.keptNames.sorted(by: { $0.key < $1.key }) {
      guard let entity = target.entity(named: name), target.kinds(of: unique.entity).contains(name)
      else { continue }
      let columns = unique.properties.map { column($0, of: entity, former, target) }
      try each(former) { (object) throws(ArborError) in
        var (values, isFilled): ([PropertyValue], Bool) = ([], false)
        for column in columns {
          var value =
            try column.source.map { (source) throws(ArborError) in
              try object.value(forKey: source)
            } ?? .null
          if value.isNull {
            value = column.filling
            isFilled = true
          }
          if value.isNull { return }
          values.append(value)
        }
        body(object, values, isFilled)
      }
    }
  }
}
