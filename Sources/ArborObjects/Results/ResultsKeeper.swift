internal import ArborModel
internal import ArborStore

/// An object that keeps the results of a request up to date: it stores the current results, applies
/// the recorded changes (incremental view maintenance), and computes the difference.
///
/// Not generic, so that all fetched results share its code.
final class ResultsKeeper {
  let context: ManagedObjectContext
  let shape: ResultsShape
  let record: ResultsRecord
  /// A closure that is called when there are changes to apply and there were none before.
  var announce: () -> Void = {}
  private var rows: ArrangedRows
  private var isUpdating = false
  private var predicates: [Int: CompiledPredicate?] = [:]

  init(
    _ description: FetchDescription, _ entity: EntitySchema, sectionedBy sectionPath: String?,
    in context: ManagedObjectContext
  ) throws(ArborError) {
    self.context = context
    shape = try ResultsShape(
      description, entity, sectionedBy: sectionPath, schema: context.session.schema,
      storeID: context.store.id, locale: context.session.locale)
    rows = ArrangedRows(in: shape.order, hasSections: sectionPath != nil)
    record = ResultsRecord(
      masks: shape.masks, schema: context.session.schema,
      seesCommitsOnly: !description.includesPendingChanges)
    // The context calls the record, and must not retain the keeper.
    record.announce = { [weak self] in self?.announce() }
    context.session.listeners.append(record)
    try context.session.onPinnedSnapshot { _ throws(ArborError) in
      // The fetch includes commits that were merged up to this point.
      _ = record.take()
      context.session.beginListening()
      try fetch()
    }
  }

  deinit { record.end() }

  /// The current results.
  var arrangement: Arrangement { rows.arrangement }

  /// Applies the changes since the last time. Returns `nil` if the results are unaffected.
  ///
  /// - Throws: ``ArborError`` if the store cannot be read. The results remain unchanged.
  func update() throws(ArborError) -> ResultsStep? {
    try context.store.requireOpen()
    guard record.hasChanges, !isUpdating, !context.session.isNotifyingListeners else { return nil }
    isUpdating = true
    defer { isUpdating = false }
    var fetched = FetchedObjects()
    let step: ResultsStep
    do throws(ArborError) {
      step = try context.session.onPinnedSnapshot { snapshot throws(ArborError) in
        let changes = record.take()
        context.session.beginListening()
        return try take(changes, on: snapshot, &fetched)
      }
    } catch {
      // The recorded changes are lost, so the next update has to fetch.
      record.noteAnything()
      throw error
    }
    // Hooks run when the results are complete. Their changes are applied by the next update.
    fetched.awake()
    return step.isEmpty ? nil : step
  }

  private func take(
    _ changes: ResultsRecord.Changes, on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(ArborError) -> ResultsStep {
    do throws(StoreError) {
      if !changes.isAnything,
        let candidates = try candidates(changes, on: snapshot, &fetched),
        let step = try incremental(candidates, changes, on: snapshot, &fetched)
      {
        return step
      }
    } catch {
      throw ArborError(error, in: context.store.engine)
    }
    return try refetch(changes)
  }

  // MARK: Fetching

  /// Fetches the results again.
  private func fetch() throws(ArborError) {
    let objects = try context.fetch(FetchRequest<ManagedObject>(shape.description))
    guard let order = shape.order else {
      return rows.replace(with: objects, isSorted: false) { _ throws(Never) in nil }
    }
    let isSorted = !shape.needsFetch
    try context.session.onSnapshot { snapshot throws(StoreError) in
      try snapshot.computingKeys(of: order, overlay: context.session.overlay) {
        keys throws(StoreError) in
        try rows.replace(with: objects, isSorted: isSorted) { object throws(StoreError) in
          try keys.key(object.number, object.currentRecord, of: object.binding.entity)
        }
      }
    }
  }

  private func refetch(_ changes: ResultsRecord.Changes) throws(ArborError) -> ResultsStep {
    let former = arrangement
    try fetch()
    var step = ResultsStep(from: former.objects, to: arrangement.objects) { old, new in
      let bits = changes.bits[new.number] ?? 0
      guard old === new, bits & new.binding.entity.linkBits == 0 else { return true }
      guard let before = changes.before[new.number] else { return false }
      guard let former = before.record else { return true }
      let present = new.currentRecord
      return former.base != present.base
        && former.changedFields(since: present, in: new.binding.entity.layout) != 0
    }
    step.compareSections(from: former, to: arrangement, in: shape.order)
    return step
  }

  /// Returns the common value of the objects of the section that starts at an index.
  func sectionValue(at index: Int, in arrangement: Arrangement) -> PropertyValue {
    guard let key = shape.sectionKey, let order = shape.order else { return .null }
    let (leaf, offset) = arrangement.place(of: index)
    let value = order.section(of: leaf.keys[offset]).value
    if value.isNull { return .null }
    switch (key.path?.leaf, value) {
    case (.toOne?, .integer(let raw)), (.object?, .integer(let raw)):
      return .objectID(context.session.objectID(ObjectNumber(rawValue: UInt64(bitPattern: raw))))
    case (_, .string) where !key.options.isEmpty:
      // The compared form may be case-folded.
      do throws(ArborError) {
        return try leaf.objects[offset].value(forKeyPath: shape.sectionPath ?? "")
      } catch {
        context.session.note(error)
        return value
      }
    default: return value
    }
  }

  // MARK: Candidates

  /// Returns the objects that may have become results, ceased to be results, or changed: changed
  /// ones and those that depend on changed ones. Returns `nil` if a fetch is required.
  private func candidates(
    _ changes: ResultsRecord.Changes, on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> [ResultsCandidate]? {
    var candidates: [ResultsCandidate] = []
    var dependents = ResultsDependents(
      shape.related, in: context.session.schema, on: snapshot, overlay: overlay
    ) { [pending = context.session.pending] entity in
      entity.concreteFamily.contains(where: pending.hasDeletions(ofEntity:))
    }
    for number in changes.numbers {
      guard let entity = context.session.schema.entity(of: number) else { continue }
      // For objects with pending changes, concurrent commits are visible only in their links.
      var changed = changes.bits[number] ?? 0
      let candidate = try candidate(number, entity, changes, on: snapshot, &fetched)
      if let candidate {
        changed |= candidate.changed
        if !rows.isOrdered, shape.isConcerned(by: candidate) { return nil }
        if shape.ownBits[entity.index] != nil { candidates.append(candidate) }
      }
      if changed & shape.otherBits[entity.index] != 0 { return nil }
      let isGone = candidate.map { $0.present == nil } ?? false
      guard dependents.add(number, entity, changed: changed, isGone: isGone) else { return nil }
    }
    let numbers = try dependents.numbers()
    guard !numbers.isEmpty else { return candidates }
    guard rows.isOrdered else { return nil }
    return try include(numbers, in: candidates, on: snapshot, &fetched)
  }

  /// Returns candidates with additional objects, which have to be evaluated although they may not
  /// have changed.
  private func include(
    _ dependents: Set<ObjectNumber>, in candidates: [ResultsCandidate], on snapshot: StoreSnapshot,
    _ fetched: inout FetchedObjects
  ) throws(StoreError) -> [ResultsCandidate] {
    var (rest, candidates) = (dependents, candidates)
    for index in candidates.indices where rest.remove(candidates[index].number) != nil {
      candidates[index].isDependent = true
    }
    for number in rest.sorted() {
      guard let entity = context.session.schema.entity(of: number),
        shape.ownBits[entity.index] != nil
      else { continue }
      let registered = context.session.registry.object(number)
      let present = try present(number, registered, on: snapshot, &fetched)
      candidates.append(
        ResultsCandidate(
          number: number, entity: entity, former: nil, present: present?.record,
          slab: present?.slab, changed: 0, isDependent: true))
    }
    return candidates
  }

  /// Returns the change of an object that may be or may have been a result, or `nil` if it is
  /// unchanged.
  private func candidate(
    _ number: ObjectNumber, _ entity: EntitySchema, _ changes: ResultsRecord.Changes,
    on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> ResultsCandidate? {
    let bits = changes.bits[number] ?? 0
    let registered = context.session.registry.object(number)
    let before = changes.before[number]
    let former = before == nil ? registered?.heldRecord : before?.record
    let present = try present(number, registered, on: snapshot, &fetched)
    var changed = UInt64.max
    if let former, let present {
      // The records contain the changes of this context. Other commits may have changed pending
      // objects.
      changed =
        bits & entity.linkBits | present.record.changedFields(since: former, in: entity.layout)
    } else if former == nil, present == nil {
      return nil
    } else if before?.isConcurrent == true {
      // Other commits report which properties changed.
      changed = bits
    }
    guard changed != 0 else { return nil }
    return ResultsCandidate(
      number: number, entity: entity, former: former, present: present?.record,
      slab: present?.slab, changed: changed)
  }

  /// Returns an object's record as the context sees it, or `nil` if the object no longer exists.
  private func present(
    _ number: ObjectNumber, _ registered: ManagedObject?, on snapshot: StoreSnapshot,
    _ fetched: inout FetchedObjects
  ) throws(StoreError) -> (record: RecordView, slab: RecordSlab?)? {
    if let registered {
      if registered.change?.kind == .deleted { return nil }
      if registered.base != nil { return (registered.currentRecord, registered.slab) }
    }
    let allocator = context.session.allocator
    guard let record = try snapshot.record(number, allocator: allocator) else { return nil }
    let slab = allocator.slab
    if let registered {
      registered.hold(record, slab)
      fetched.append(registered)
    }
    return (record, slab)
  }

  // MARK: One by one

  /// The changes that the results include.
  private var overlay: (any PendingState)? { context.session.overlay }

  /// Applies the changes of candidates one by one. Returns `nil` if a fetch is required.
  private func incremental(
    _ candidates: [ResultsCandidate], _ changes: ResultsRecord.Changes,
    on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> ResultsStep? {
    if !shape.description.allowance.isUnlimited {
      snapshot.limit.narrow(shape.description.allowance)
    }
    var placement = ResultsPlacement(rows)
    guard let order = shape.order, rows.isOrdered else {
      // Only properties that don't concern the request have changed.
      for candidate in candidates {
        if let index = rows.index(of: candidate.number) { placement.update(index) }
      }
      return placement.finish().step
    }
    let indices = rows.indices(of: candidates.map(\.number))
    let isComplete = try snapshot.computingKeys(of: order, overlay: overlay) {
      keys throws(StoreError) in
      for (candidate, index) in zip(candidates, indices) {
        guard try place(candidate, from: index, in: &placement, keys, on: snapshot, &fetched)
        else { return false }
      }
      return true
    }
    guard isComplete else { return nil }
    let (step, rows) = placement.finish()
    self.rows = rows
    return step
  }

  /// Places a candidate. Returns `false` if a fetch is required.
  ///
  /// - Parameter index: The index of the candidate, or `nil` if it wasn't a result.
  private func place(
    _ candidate: ResultsCandidate, from index: Int?, in placement: inout ResultsPlacement,
    _ keys: RecordKeys, on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> Bool {
    // It was deleted and restored, and is now represented by another object.
    if let index, candidate.present != nil,
      arrangement[index] !== context.session.registry.object(candidate.number)
    {
      return false
    }
    // Other properties affect neither membership nor order.
    guard candidate.isDependent || shape.isConcerned(by: candidate) else {
      if let index { placement.update(index) }
      return true
    }
    guard let record = candidate.present, try fulfils(candidate, record, on: snapshot) else {
      if let index { placement.delete(index) }
      return true
    }
    let key = try keys.key(candidate.number, record, of: candidate.entity)
    let object: ManagedObject
    if let registered = context.session.registry.object(candidate.number) {
      object = registered
    } else {
      object = try context.session.make(candidate.number, record, candidate.slab)
      fetched.append(object)
    }
    placement.put(object, key, from: index, hasChanged: candidate.changed != 0)
    return true
  }

  private func fulfils(
    _ candidate: ResultsCandidate, _ record: RecordView, on snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    let entity = candidate.entity
    if predicates[entity.index] == nil {
      do throws(ArborError) {
        predicates[entity.index] = .some(try shape.compile(for: entity, in: context))
      } catch {
        throw .query(error)
      }
    }
    guard let predicate = predicates[entity.index] ?? nil else { return true }
    guard shape.needsResolver else { return predicate(record, candidate.number, nil) }
    return try snapshot.evaluate(predicate, record, candidate.number, overlay: overlay)
  }
}

/// An object that may be or may have been a result.
struct ResultsCandidate {
  let number: ObjectNumber
  let entity: EntitySchema
  /// The record when the results were last updated, or `nil` if there was none.
  let former: RecordView?
  /// The current record, or `nil` if the object no longer exists.
  let present: RecordView?
  /// The slab that keeps ``present`` alive, or `nil` if there isn't one.
  let slab: RecordSlab?
  /// A bit mask of the properties that differ.
  let changed: UInt64
  /// Whether another object has changed that affects whether or where this one is a result.
  var isDependent = false
}
