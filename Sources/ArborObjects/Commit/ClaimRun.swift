internal import ArborModel
internal import ArborStore

/// One claim of a context: finds out whether there is an object, validates the values on it, and
/// lets the store's writer choose the object. See ``ObjectQuery/claim(_:)``.
struct ClaimRun {
  let context: ManagedObjectContext
  private let values: [String: PropertyValue]
  private var session: Session { context.session }

  init(_ context: ManagedObjectContext, setting values: [String: PropertyValue]) {
    self.context = context
    self.values = values
  }

  /// Claims the first object of a request.
  func run<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> T? {
    try begin()
    let entity = try session.entity(for: request)
    try check(entity)
    while true {
      // Workers that look into an empty queue don't need the writer.
      guard let candidate = try session.first(request.description, entity) else { return nil }
      let validated = try validate(candidate)
      try session.limitOperation()
      guard let claimed = try write(request.description, entity, expecting: validated) else {
        // Hooks have validated another object than the writer has found.
        if validated != nil { continue }
        return nil
      }
      context.hasCommitted = true
      context.store.longReaders?.noteCommit(of: session.engine)
      try session.mergeNewestCommits(always: true)
      // Another commit may have taken the object back meanwhile.
      if let object = try session.existingObjects([claimed.number]).first, holds(object, claimed) {
        // All objects of the entity have its class, which has been checked.
        return unsafeDowncast(object, to: T.self)
      }
    }
  }

  private func begin() throws(ArborError) {
    try session.beginOperation()
    try session.throwFailure()
    guard !session.isInSavepoint else {
      throw ArborError(
        .notAllowed,
        "claim() was called during a commit or a seed. Claim the object before.")
    }
    guard session.pinned == nil else {
      throw ArborError(
        .notAllowed,
        "claim() was called inside withSnapshot(_:), which doesn't see the newest commits. Claim the "
          + "object before.")
    }
    guard !session.hasEdits else {
      throw ArborError(
        .notAllowed,
        "The context has changes that a claim doesn't see. Commit or roll them back before.")
    }
  }

  /// Checks that the values can be set by a claim.
  private func check(_ entity: EntitySchema) throws(ArborError) {
    try PropertyChanges(values).check(entity, in: session.engine)
    for name in values.keys.sorted() {
      guard let property = entity.property(named: name),
        !entity.isClaimable(property, in: session.schema)
      else { continue }
      throw ArborError(
        .notAllowed,
        "A claim can't set \(entity.name).\(name), which isn't stored in the object's record alone. "
          + "Set it on the claimed object, and commit."
      ).with(entity: entity.name, keyPath: name)
    }
  }

  /// Sets the values on an object, validates it, and takes the values back.
  ///
  /// - Returns: The number and version of the object if its hooks have validated it, or `nil` if its
  ///   class has no such hooks, so that the values are as valid for any other object.
  private func validate(
    _ candidate: ManagedObject
  ) throws(ArborError) -> (number: ObjectNumber, version: UInt32)? {
    let version = candidate.currentRecord.version
    try session.withoutUndo { () throws(ArborError) in
      let savepoint = session.beginSavepoint()
      defer { session.restore(savepoint) }
      try PropertyChanges(values).apply(to: candidate)
      try session.throwFailure()
      try RuleCheck(session: session).run()
    }
    return candidate.binding.hooks.validates ? (candidate.number, version) : nil
  }

  /// Writes the claim. Returns `nil` if the writer finds no object, or another one than expected.
  private func write(
    _ description: FetchDescription, _ entity: EntitySchema,
    expecting expected: (number: ObjectNumber, version: UInt32)?
  ) throws(ArborError) -> ClaimedObject? {
    var first = description
    first.fetchLimit = 1
    var set = ChangeSet()
    set.claim = ChangeSet.Claim(
      try session.query(first, entity),
      setting: values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, expecting: expected,
      locale: session.locale, deadline: session.limit.deadline)
    set.author = context.author
    set.contextName = context.name
    let observation = context.store.instrument?.commitBegins(
      .init(contextName: context.name, author: context.author))
    do throws(StoreError) {
      let receipt = try session.engine.commit(set, limit: session.limit)
      observation?.end(receipt, CommitTally(updated: 1, conflicts: 0))
      return receipt.claimed
    } catch {
      switch error {
      case .nothingToClaim:
        observation?.end(nil, CommitTally(conflicts: 0))
        return nil
      case .conflict where expected != nil:
        observation?.end(nil, CommitTally(conflicts: 1))
        return nil
      default:
        let error = RuleCheck(session: session).naming(ArborError(error, in: session.engine))
        observation?.end(nil, CommitTally(conflicts: 0), error)
        throw error
      }
    }
  }

  /// Returns whether an object still has the values with which it was claimed.
  private func holds(_ object: ManagedObject, _ claimed: ClaimedObject) -> Bool {
    claimed.record.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      let (record, claimed) = (object.currentRecord, RecordView(base: base, count: bytes.count))
      return values.keys.allSatisfy { name in
        switch object.binding.entity.property(named: name) {
        case .attribute(let attribute): !record.differs(from: claimed, attribute.field)
        case .relationship(let relationship):
          relationship.field.map { !record.differs(from: claimed, $0) } ?? false
        case nil: false
        }
      }
    }
  }
}
