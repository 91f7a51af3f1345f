internal import ArborModel
internal import ArborStore

/// An object that keeps the results of a request up to date: it stores the current results, applies
/// the recorded changes (incremental view maintenance), and computes the difference.
///
/// Not generic, so that all fetched results share its code.
final class ResultsKeeper {
  /// Consecutive objects of the same section.
  struct Run {
    /// The identity of the section: the first sort key's value, in its compared form.
    let identity: DistinctValue
    var count: Int
  }

  let context: ManagedObjectContext
  let shape: ResultsShape
  let record: ResultsRecord
  /// A closure that is called when there are changes to apply and there were none before.
  var announce: () -> Void = {}
  var arrangement = Arrangement()
  private(set) var runs: [Run] = []
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
    record = ResultsRecord(
      masks: shape.masks, schema: context.session.schema,
      seesCommitsOnly: !description.includesPendingChanges)
    // The context calls the record, and must not retain the keeper.
    record.announce = { [weak self] in self?.announce() }
    context.session.listeners.append(record)
    _ = try context.session.onPinnedSnapshot { _ throws(ArborError) in
      // The fetch includes commits that were merged up to this point.
      _ = record.take()
      context.session.beginListening()
      return try fetch()
    }
  }

  deinit { record.end() }

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
      // For objects with pending changes, concurrent commits are visible only in their links.
      var concerned =
        changes.isAnything
        || changes.bits.contains { number, bits in
          context.session.schema.entity(of: number).map { bits & shape.otherBits[$0.index] != 0 }
            ?? false
        }
      var candidates: [ResultsCandidate] = []
      for number in changes.numbers where !concerned {
        guard
          let candidate = try candidate(number, changes, on: snapshot, &fetched)
        else { continue }
        let entity = candidate.entity.index
        concerned =
          candidate.changed & shape.otherBits[entity] != 0
          || (shape.needsFetch && shape.isConcerned(by: candidate))
        if shape.ownBits[entity] != nil { candidates.append(candidate) }
      }
      if !concerned, let step = try incremental(candidates, changes, on: snapshot, &fetched) {
        return step
      }
    } catch {
      throw ArborError(error, in: context.store.engine)
    }
    return try refetch(changes)
  }

  // MARK: Fetching

  /// Fetches the results again. Returns the previous objects.
  private func fetch() throws(ArborError) -> [ManagedObject] {
    let objects = try context.fetch(FetchRequest<ManagedObject>(shape.description))
    let former = arrangement.objects
    if let key = shape.sectionKey {
      runs = []
      let rows = objects.map { ($0.number, $0.currentRecord, $0.binding.entity) }
      let identities = try context.session.onSnapshot { snapshot throws(StoreError) in
        try snapshot.sections(by: key, of: rows, overlay: context.session.overlay)
      }
      for identity in identities {
        if runs.last?.identity == identity {
          runs[runs.count - 1].count += 1
        } else {
          runs.append(Run(identity: identity, count: 1))
        }
      }
    }
    arrangement = Arrangement(objects)
    return former
  }

  /// Returns the common value of a section's objects.
  func value(of run: Run, first: ManagedObject) -> PropertyValue {
    guard let key = shape.sectionKey, !run.identity.value.isNull else { return .null }
    switch (key.path?.leaf, run.identity.value) {
    case (.toOne?, .integer(let raw)), (.object?, .integer(let raw)):
      return .objectID(context.session.objectID(ObjectNumber(rawValue: UInt64(bitPattern: raw))))
    case (_, .string) where !key.options.isEmpty:
      // The compared form may be case-folded.
      do throws(ArborError) {
        return try first.value(forKeyPath: shape.sectionPath ?? "")
      } catch {
        context.session.note(error)
        return run.identity.value
      }
    default: return run.identity.value
    }
  }

  private func refetch(_ changes: ResultsRecord.Changes) throws(ArborError) -> ResultsStep {
    let runs = runs
    let former = try fetch()
    var step = ResultsStep(from: former, to: arrangement.objects) { old, new in
      let bits = changes.bits[new.number] ?? 0
      guard old === new, bits & new.binding.entity.linkBits == 0 else { return true }
      guard let before = changes.before[new.number] else { return false }
      guard let former = before.record else { return true }
      let present = new.currentRecord
      return former.base != present.base
        && former.changedFields(since: present, in: new.binding.entity.layout) != 0
    }
    step.compareSections(from: runs, to: self.runs)
    return step
  }

  // MARK: One by one

  /// Returns the change of an object that may be or may have been a result, or `nil` if it is
  /// unchanged.
  private func candidate(
    _ number: ObjectNumber, _ changes: ResultsRecord.Changes, on snapshot: StoreSnapshot,
    _ fetched: inout FetchedObjects
  ) throws(StoreError) -> ResultsCandidate? {
    guard let entity = context.session.schema.entity(of: number) else { return nil }
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

  /// Applies the changes of candidates one by one. Returns `nil` if a fetch is required.
  private func incremental(
    _ candidates: [ResultsCandidate], _ changes: ResultsRecord.Changes,
    on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> ResultsStep? {
    if !shape.description.allowance.isUnlimited {
      snapshot.limit.narrow(shape.description.allowance)
    }
    var placement = ResultsPlacement(arrangement, runs: runs, shape: shape, changes: changes)
    for candidate in candidates {
      let index = placement.index(of: candidate)
      // It was deleted and restored, and is now represented by another object.
      if let index, candidate.present != nil,
        arrangement[index] !== context.session.registry.object(candidate.number)
      {
        return nil
      }
      // Other properties affect neither membership nor order.
      guard shape.isConcerned(by: candidate), !shape.needsFetch else {
        if let index, candidate.present != nil { placement.update(index) }
        continue
      }
      guard let record = candidate.present, try fulfils(candidate, record, on: snapshot) else {
        if let index { placement.delete(index) }
        continue
      }
      let object: ManagedObject
      if let registered = context.session.registry.object(candidate.number) {
        object = registered
      } else {
        object = try context.session.make(candidate.number, record, candidate.slab)
        fetched.append(object)
      }
      placement.put(object, record, candidate.entity, from: index)
    }
    let former = runs
    var step = placement.finish()
    (arrangement, runs) = (placement.arrangement, placement.runs)
    step.compareSections(from: former, to: runs)
    return step
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
    return try snapshot.evaluate(
      predicate, record, candidate.number, overlay: context.session.overlay)
  }
}

/// An object that may be or may have been a result.
struct ResultsCandidate {
  let number: ObjectNumber
  let entity: EntitySchema
  /// The record by which the object was placed, or `nil` if it wasn't a result.
  let former: RecordView?
  /// The current record, or `nil` if the object no longer exists.
  let present: RecordView?
  /// The slab that keeps ``present`` alive, or `nil` if there isn't one.
  let slab: RecordSlab?
  /// A bit mask of the properties that differ.
  let changed: UInt64
}
