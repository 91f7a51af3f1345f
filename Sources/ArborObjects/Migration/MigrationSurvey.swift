internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// A search for objects of a store that violate the rules of a newer model.
struct MigrationSurvey {
  let context: ManagedObjectContext
  let models: StagedModels

  /// Finds all objects with values or links that prevent passes.
  ///
  /// - Parameter target: The newer model, with its constraints.
  func obstacles(to target: ManagedObjectModel) throws(ArborError) -> [MigrationPlan.Obstacle] {
    try problems() + duplicates(in: target)
  }

  /// Returns whether the passes of the migration would visit no objects.
  func passesNothing() throws(ArborError) -> Bool {
    var entities = PropertyWork.all(models, context.session.schema).map(\.former.name)
    entities += models.computed.keys.compactMap(models.formerName)
    for change in models.difference.changes {
      guard case .entity(.becameAbstract) = change.kind, let name = change.source?.entity
      else { continue }
      entities.append(name)
    }
    for entity in entities where try context.count(FetchRequest(exactly: entity)) > 0 {
      return false
    }
    return true
  }

  /// Finds values and links that the newer model cannot hold, and links that contradict each other
  /// in it.
  func problems() throws(ArborError) -> [MigrationPlan.Obstacle] {
    var problems: [MigrationProblem] = []
    for work in PropertyWork.all(models, context.session.schema)
    where !work.attributes.isEmpty || !work.relationships.isEmpty {
      try each(work.former.name) { (object) throws(ArborError) in
        try work.check(object) { property, what in
          problems.note(
            MigrationProblem(entity: work.former.name, property: property, what: what),
            object.objectID.number)
        }
      }
    }
    problems += try contradictions()
    return problems.map { problem in
      MigrationPlan.Obstacle(
        entity: problem.entity, property: problem.property,
        objectIDs: problem.first.map {
          ObjectID(storeID: context.store.id, entityName: problem.entity, number: $0)
        }, message: problem.message)
    }
  }

  /// Finds values that exceed narrower bounds or don't match a new pattern.
  func brokenValues() throws(ArborError) -> [MigrationPlan.Obstacle] {
    var found: [MigrationPlan.Obstacle] = []
    for change in models.difference.changes {
      guard let subject = change.subject, let property = subject.property,
        let rule = ValueRule(change.rule)
      else { continue }
      for (former, name) in models.keptNames.sorted(by: { $0.key < $1.key }) {
        guard models.relaxed.kinds(of: subject.entity).contains(name),
          let source = models.fieldSources[name]?[property]
        else { continue }
        var list = ObjectList(entity: former)
        try each(former) { (object) throws(ArborError) in
          if rule.isBroken(by: try object.value(forKey: source)) { list.add(object) }
        }
        guard list.count > 0 else { continue }
        found.append(list.obstacle(property, "\(subject): \(list.words) with \(rule.words)."))
      }
    }
    return found
  }

  /// Calls `body` with each object of exactly one entity, fetching them in batches.
  func each(
    _ entity: String, _ body: (ManagedObject) throws(ArborError) -> Void
  ) throws(ArborError) {
    guard let entity = context.session.schema.entity(named: entity), !entity.isAbstract else {
      return
    }
    var last = ObjectNumber(entity: entity.number, sequence: 0)
    while true {
      let batch = try entity.objects(behind: last, atMost: 1000, in: context)
      guard let end = batch.last else { return }
      for object in batch { try body(object) }
      last = end.number
    }
  }
}

/// A rule for the values of an attribute that is checked by commits but not by migrations.
private struct ValueRule {
  /// A description of the values that violate the rule.
  let words: String
  private let minimum: PropertyValue
  private let maximum: PropertyValue
  private let pattern: (any BoundedExpression)?

  /// Creates the rule. Returns `nil` for rules other than bounds and valid patterns.
  init?(_ rule: ModelDifference.Rule?) {
    switch rule {
    case .bounds(let bounds):
      (minimum, maximum, pattern) = (bounds.minimum, bounds.maximum, nil)
      words = "a value outside the range \(bounds)"
    case .pattern(let text):
      guard let expression = EntityRules.expression(text) else { return nil }
      (minimum, maximum, pattern) = (.null, .null, expression)
      words = "a value that doesn't match “\(text)”"
    default: return nil
    }
  }

  func isBroken(by value: PropertyValue) -> Bool {
    if value.isNull { return false }
    if let pattern {
      if case .string(let text) = value { return !EntityRules.matches(text, pattern) }
      return false
    }
    return EntityRules.problem(of: value, minimum, maximum) != nil
  }
}

/// The number of objects that violate a rule, and the IDs of the first ones.
struct ObjectList {
  let entity: String
  private(set) var count = 0
  private(set) var first: [ObjectID] = []

  mutating func add(_ object: ManagedObject) {
    count += 1
    if first.count < MigrationProblem.namedObjects { first.append(object.objectID) }
  }

  /// The count and the first objects as text, such as `there are 5 objects (Book 1, Book 2, Book 3
  /// and more)`.
  var words: String {
    let names = first.map { "\($0.entityName) \($0.number)" }.joined(separator: ", ")
    return (count == 1 ? "there is 1 object" : "there are \(count) objects")
      + " (\(names)\(count > first.count ? " and more" : ""))"
  }

  func obstacle(_ property: String?, _ message: String) -> MigrationPlan.Obstacle {
    MigrationPlan.Obstacle(entity: entity, property: property, objectIDs: first, message: message)
  }
}
