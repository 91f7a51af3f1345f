internal import ArborFoundation
internal import ArborModel

/// The validation of everything that a commit is about to write, by the model's rules and the
/// objects' own hooks.
///
/// All violations are collected before any is thrown.
struct CommitValidation {
  private let session: Session
  private let hasDeletions: Bool
  private var violations: [ArborError] = []

  init(session: Session) {
    self.session = session
    hasDeletions = session.pending.deletedCount > 0
  }

  /// Checks all pending changes.
  ///
  /// - Throws: ``ArborError`` `validation` with every violation.
  mutating func check() throws(ArborError) {
    // A hook that changes objects adds to the list, and the additions are checked, too.
    session.pending.forEach { change in
      if !change.isQuiet, session.limit.admit() { checkRulesAndHook(change) }
    }
    try session.limitOperation()
    checkCounts()
    try report()
  }

  /// Checks one object against the model's rules and calls the hook for individual values, whether
  /// or not the object has changed.
  ///
  /// - Throws: The same errors as ``check()``.
  mutating func check(_ object: ManagedObject, isDeletion: Bool) throws(ArborError) {
    if isDeletion {
      checkDenial(object)
    } else {
      checkValues(object)
      for slot in object.binding.rules.counted {
        checkCount(object, object.binding.entity.relationships[slot])
      }
    }
    try report()
  }

  private func report() throws(ArborError) {
    if !violations.isEmpty { throw Self.summary(of: violations) }
  }

  /// Returns one error for all violations. A single violation keeps its message.
  static func summary(of violations: [ArborError]) -> ArborError {
    guard let first = violations.first, violations.count == 1 else {
      var error = ArborError(
        .validation,
        "The changes violate \(violations.count) rules. Correct the objects, or roll back.")
      error.violations = violations
      return error
    }
    var error = ArborError(.validation, first.message).with(
      entity: first.entity, objectID: first.objectID, keyPath: first.keyPath,
      offending: first.offendingValue, underlying: first.underlying)
    error.violations = violations
    return error
  }

  /// Checks one object against the model's rules, then calls its validating hook.
  private mutating func checkRulesAndHook(_ change: PendingObject) {
    let object = change.object
    switch change.kind {
    case .inserted:
      checkValues(object)
      run(object) { try object.validateForInsert() }
    case .updated:
      checkValues(object)
      run(object) { try object.validateForUpdate() }
    case .deleted:
      checkDenial(object)
      run(object) { try object.validateForDelete() }
    case .dropped: break
    }
  }

  private mutating func checkValues(_ object: ManagedObject) {
    let rules = object.binding.rules
    let record = object.currentRecord
    for property in rules.mandatory where record.isNull(property.field) {
      add(object, property.name, "has no value. Set one, or make the property optional")
    }
    for property in rules.numeric where Self.isNaN(property.field, record) {
      let what = property.field.kind == .date ? "not a finite date" : "NaN or out of range"
      add(object, property.name, "is \(what). Set another value")
    }
    for attribute in rules.codable where !record.isNull(attribute.field) {
      guard object.holdsUnencodable(attribute.field, in: record) else { continue }
      add(
        object, attribute.name,
        "contains NaN or a value that cannot be encoded. Set another value")
    }
    for (attribute, minimum, maximum) in rules.bounds where !record.isNull(attribute.field) {
      let value = record.value(attribute.field)
      if let problem = EntityRules.problem(of: value, minimum, maximum) {
        add(object, attribute.name, problem, value)
      }
    }
    for (attribute, expression) in rules.patterns where !record.isNull(attribute.field) {
      let text = record.string(attribute.field)
      if EntityRules.matches(text, expression, session.limit) { continue }
      add(
        object, attribute.name, EntityRules.mismatch(of: attribute.description), .string(text))
    }
    for (attribute, rules) in rules.composites where !record.isNull(attribute.field) {
      for broken in rules.violations(
        of: record.value(attribute.field), at: attribute.name, session.limit)
      {
        add(object, broken.keyPath, broken.problem, broken.value)
      }
    }
    checkTargets(object)
    checkHook(object, record)
  }

  private static func isNaN(_ field: RecordField, _ record: RecordView) -> Bool {
    switch field.kind {
    case .float: record.load(field, as: Float.self).isNaN
    case .double: record.load(field, as: Double.self).isNaN
    case .date: !record.load(field, as: Double.self).isFinite
    case .decimal: record.bytes(field).elementsEqual(DecimalCodec.notANumber)
    default: false
    }
  }

  /// Checks that no relationship points to an object that the commit deletes.
  private mutating func checkTargets(_ object: ManagedObject) {
    guard hasDeletions else { return }
    for relationship in object.binding.entity.relationships {
      guard let target = object.target(of: relationship), session.isDeleted(target) else {
        continue
      }
      add(
        object, relationship.name,
        "refers to an object that the same commit deletes. Set another object")
    }
  }

  private mutating func checkHook(_ object: ManagedObject, _ record: RecordView) {
    guard object.binding.hooks.contains(.validate) else { return }
    for property in object.binding.recordProperties {
      // A large binary value isn't read again if it is unchanged.
      if property.field.isExternal, let committed = object.change?.committed,
        !record.differs(from: committed, property.field)
      {
        continue
      }
      do {
        try object.validate(object.fieldValue(property, in: record), forKey: property.name)
      } catch {
        add(object, error, property.name)
      }
    }
  }

  private mutating func checkDenial(_ object: ManagedObject) {
    for slot in object.binding.rules.denying {
      let relationship = object.binding.entity.relationships[slot]
      let targets =
        relationship.isToMany
        ? session.members(of: object, relationship)
        : object.target(of: relationship).map { [$0] } ?? []
      if targets.contains(where: { !session.isDeleted($0) }) {
        add(
          object, relationship.name,
          "still has members, which its delete rule forbids. Delete or move the members first")
      }
    }
  }

  // MARK: Relationship counts

  /// Checks the numbers of members of inserted objects and of objects with changed members.
  private mutating func checkCounts() {
    var checked: Set<ObjectNumber> = []
    session.pending.forEach { change in
      guard change.kind == .inserted else { return }
      for slot in change.object.binding.rules.counted {
        checked.insert(change.object.number)
        checkCount(change.object, change.object.binding.entity.relationships[slot])
      }
    }
    session.links.forEach { edit in
      guard !checked.contains(edit.owner), !session.isDeleted(edit.owner),
        let binding = session.binding(of: edit.owner),
        binding.rules.counted.contains(edit.relationship.slot)
      else { return }
      if let owner = session.fault(edit.owner) { checkCount(owner, edit.relationship) }
    }
  }

  private mutating func checkCount(_ owner: ManagedObject, _ relationship: RelationshipSchema) {
    let description = relationship.description
    let count = session.memberCount(of: owner, relationship)
    if count == 0 {
      // The empty set is a value. A mandatory relationship requires members only through its
      // minimum count.
      guard !description.isOptional, description.minimumCount > 0 else { return }
      let asked = description.minimumCount == 1 ? "one" : "\(description.minimumCount)"
      return add(
        owner, relationship.name,
        "has no members. Add at least \(asked), or make the relationship optional")
    }
    if count < description.minimumCount {
      add(
        owner, relationship.name,
        "has \(count) \(count == 1 ? "member" : "members"), which is below the minimum of "
          + "\(description.minimumCount)")
    }
    if description.maximumCount > 0, count > description.maximumCount {
      add(
        owner, relationship.name,
        "has \(count) members, which exceeds the maximum of \(description.maximumCount)")
    }
  }

  // MARK: Gathering

  private mutating func run(_ object: ManagedObject, _ hook: () throws -> Void) {
    // The rules of the model have already been checked. See ManagedObject.checkRules(isDeletion:).
    session.validated = object.number
    defer { session.validated = nil }
    do { try hook() } catch { add(object, error, nil) }
  }

  private mutating func add(
    _ object: ManagedObject, _ property: String, _ problem: String, _ value: PropertyValue? = nil
  ) {
    let error = ArborError(.validation, "\(object.binding.entity.name).\(property) \(problem).")
    violations.append(
      error.with(
        entity: object.binding.entity.name, objectID: object.objectID, keyPath: property,
        offending: value.map { "\($0)" }))
  }

  /// Adds the error of a hook as a violation.
  private mutating func add(_ object: ManagedObject, _ error: any Error, _ property: String?) {
    if let error = error as? ArborError {
      violations.append(
        error.with(
          entity: error.entity ?? object.binding.entity.name,
          objectID: error.objectID ?? object.objectID, keyPath: error.keyPath ?? property))
      return
    }
    let subject = object.binding.entity.name + (property.map { ".\($0)" } ?? "")
    violations.append(
      ArborError(.validation, "\(subject) is not valid: \("\(error)".asClause).").with(
        entity: object.binding.entity.name, objectID: object.objectID, keyPath: property,
        underlying: error))
  }
}

extension ManagedObject {
  /// Checks the rules of the model. The default implementation of the validation hooks.
  final func checkRules(isDeletion: Bool) throws(ArborError) {
    guard let session, session.validated != number else { return }
    var validation = CommitValidation(session: session)
    try validation.check(self, isDeletion: isDeletion)
  }
}
