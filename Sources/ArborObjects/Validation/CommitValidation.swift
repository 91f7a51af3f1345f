internal import ArborFoundation
internal import ArborModel

/// The validation of everything that a commit is about to write, by the model's rules and the
/// objects' own hooks.
///
/// All violations are collected before any is thrown.
struct CommitValidation {
  private let session: Session
  private let hasDeletions: Bool
  /// Whether hooks are called only for objects that have changed since they were last called.
  private let isRepeated: Bool
  private var violations: [ArborError] = []

  /// - Parameter isRepeated: Whether the pending changes have been validated before, so that hooks
  ///   are called only for objects that have changed since.
  init(session: Session, isRepeated: Bool = false) {
    self.session = session
    self.isRepeated = isRepeated
    hasDeletions = session.pending.deletedCount > 0
  }

  /// Checks all pending changes.
  ///
  /// - Throws: ``ArborError`` `validation` with every violation.
  mutating func check() throws(ArborError) {
    var calls = HookCalls(session)
    // A hook that changes objects adds to the list, and the additions are checked, too.
    try session.pending.forEach { change throws(ArborError) in
      try calls.count()
      checkRulesAndHook(change)
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
      checkValues(object, callsHook: true)
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
    guard !change.isQuiet else { return checkMandatory(object) }
    let callsHook = !isRepeated || change.validatedMutations != change.mutations
    change.validatedMutations = change.mutations
    switch change.kind {
    case .inserted:
      checkValues(object, callsHook: callsHook)
      if callsHook { run(object) { try object.validateForInsert() } }
    case .updated:
      // A merge may have adopted the store's state.
      if isRepeated, change.hasNoEffect { return }
      checkValues(object, callsHook: callsHook)
      if callsHook { run(object) { try object.validateForUpdate() } }
    case .deleted:
      checkDenial(object)
      if callsHook { run(object) { try object.validateForDelete() } }
    case .dropped: break
    }
  }

  private mutating func checkMandatory(_ object: ManagedObject) {
    let record = object.currentRecord
    for property in object.binding.rules.mandatory where record.isNull(property.field) {
      add(object, property.name, "has no value. Set one, or make the property optional")
    }
  }

  private mutating func checkValues(_ object: ManagedObject, callsHook: Bool) {
    let rules = object.binding.rules
    let record = object.currentRecord
    checkMandatory(object)
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
    if callsHook { checkHook(object, record) }
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
      // The deletion of an object that keeps its members is refused itself.
      guard let target = object.target(of: relationship), session.isDeleted(target),
        !session.schema.inverse(of: relationship).keepsMembersOfDeleted
      else { continue }
      // A link of another commit is resolved together with the conflict.
      if let change = object.change, change.isContested, let field = relationship.field,
        change.committed?.reference(field) == target
      {
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
      if targets.contains(where: { forbids($0, relationship, of: object) }) {
        add(
          object, relationship.name,
          "still has members, which its delete rule forbids. Delete or move the members first")
      }
    }
  }

  /// Returns whether a member of a relationship with the rule "deny" forbids the deletion.
  private func forbids(
    _ member: ObjectNumber, _ relationship: RelationshipSchema, of object: ManagedObject
  ) -> Bool {
    guard session.exists(member) else { return false }
    // If another commit has moved the member here, and this context has changed it as well, the
    // commit validates again after the policy has decided.
    guard relationship.isToMany, !relationship.isInverseToMany,
      let change = session.pending.change(of: member), change.isContested,
      let field = change.object.binding.entity.relationships[relationship.inverseSlot].field
    else { return true }
    let known = change.origin?.record ?? change.committed
    return known?.reference(field) == object.number
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
      // Another commit may have deleted the owner of a member that is moved elsewhere.
      guard !checked.contains(edit.owner), let binding = session.binding(of: edit.owner),
        binding.rules.counted.contains(edit.relationship.slot), session.exists(edit.owner)
      else { return }
      if let owner = session.fault(edit.owner) { checkCount(owner, edit.relationship) }
    }
  }

  private mutating func checkCount(_ owner: ManagedObject, _ relationship: RelationshipSchema) {
    let count = session.memberCount(of: owner, relationship)
    guard let problem = relationship.problem(ofCount: count) else { return }
    guard count == 0 else { return add(owner, relationship.name, problem) }
    let minimum = relationship.description.minimumCount
    add(
      owner, relationship.name,
      "has no members. Add at least \(minimum == 1 ? "one" : "\(minimum)"), or make the "
        + "relationship optional")
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
