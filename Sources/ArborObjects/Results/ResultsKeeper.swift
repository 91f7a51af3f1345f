internal import ArborModel
internal import ArborStore

/// Keeps the result of a request current: knows what it was, takes in what its record has taken
/// down, and tells the difference.
///
/// It knows no class, so that all fetched results share its code.
final class ResultsKeeper {
  /// Objects that follow one another and belong together.
  struct Run {
    /// What makes them one section: the first sort key's value, as it is compared.
    let identity: PropertyValue
    var count: Int
  }

  let context: ManagedObjectContext
  let shape: ResultsShape
  let record: ResultsRecord
  /// Called when there is something to take in after there was nothing.
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
    // The context tells the record, and must not keep the keeper.
    record.announce = { [weak self] in self?.announce() }
    context.session.listeners.append(record)
    _ = try context.session.onPinnedSnapshot { _ throws(ArborError) in
      // The commits that were taken in on the way here are in what is fetched.
      _ = record.take()
      context.session.beginListening()
      return try fetch()
    }
  }

  deinit { record.end() }

  /// Takes in what has changed since the last time; nil where that changed nothing.
  ///
  /// - Throws: ``ArborError`` where the store cannot be read; the results are as they were.
  func update() throws(ArborError) -> ResultsStep? {
    try context.store.requireOpen()
    guard record.hasChanges, !isUpdating, !context.session.isTellingListeners else { return nil }
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
      // What was recorded is lost: only a fetch can tell what there is.
      record.noteAnything()
      throw error
    }
    // Hooks run when everything is in place; what they change is taken in the next time.
    fetched.awake()
    return step.isEmpty ? nil : step
  }

  private func take(
    _ changes: ResultsRecord.Changes, on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(ArborError) -> ResultsStep {
    do throws(StoreError) {
      // What concurrent commits did to an object that waits for a commit here shows in links alone.
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

  /// Fetches anew; returns the objects before.
  private func fetch() throws(ArborError) -> [ManagedObject] {
    let objects = try context.fetch(FetchRequest<ManagedObject>(shape.description))
    let former = arrangement.objects
    if let key = shape.sectionKey {
      runs = []
      let rows = objects.map { ($0.number, $0.currentRecord, $0.binding.entity) }
      let identities = try context.session.onSnapshot { snapshot throws(StoreError) in
        try snapshot.sortValues(key, of: rows, overlay: context.session.overlay)
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

  /// The value that the objects of a section have in common.
  func value(of run: Run, first: ManagedObject) -> PropertyValue {
    guard let key = shape.sectionKey, !run.identity.isNull else { return .null }
    switch (key.path?.leaf, run.identity) {
    case (.toOne?, .integer(let raw)), (.object?, .integer(let raw)):
      return .objectID(context.session.objectID(ObjectNumber(rawValue: UInt64(bitPattern: raw))))
    case (_, .string) where !key.options.isEmpty:
      // As it is compared it may be folded.
      do throws(ArborError) {
        return try first.value(forKeyPath: shape.sectionPath ?? "")
      } catch {
        context.session.note(error)
        return run.identity
      }
    default: return run.identity
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

  /// What has become of one object that may be, or may have been, a result; nil where nothing has.
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
      // Records tell what changed in this context; others may have changed what waits here.
      changed =
        bits & entity.linkBits | present.record.changedFields(since: former, in: entity.layout)
    } else if former == nil, present == nil {
      return nil
    } else if before?.isConcurrent == true {
      // Others have said what changed.
      changed = bits
    }
    guard changed != 0 else { return nil }
    return ResultsCandidate(
      number: number, entity: entity, former: former, present: present?.record,
      slab: present?.slab, changed: changed)
  }

  /// An object's record as the context sees it now; nil where there is no such object any more.
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

  /// Takes candidates in; nil where only a fetch can tell.
  private func incremental(
    _ candidates: [ResultsCandidate], _ changes: ResultsRecord.Changes,
    on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> ResultsStep? {
    var placement = ResultsPlacement(arrangement, runs: runs, shape: shape, changes: changes)
    for candidate in candidates {
      let index = placement.index(of: candidate)
      // It was deleted and has come back: another object stands for it.
      if let index, candidate.present != nil,
        arrangement[index] !== context.session.registry.object(candidate.number)
      {
        return nil
      }
      // Other properties leave a result where it is, and make none of what was none.
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

/// One object that may be, or may have been, a result.
struct ResultsCandidate {
  let number: ObjectNumber
  let entity: EntitySchema
  /// The record by which it was put in; nil where it was no result.
  let former: RecordView?
  /// The record now; nil where there is no such object any more.
  let present: RecordView?
  /// What keeps ``present`` alive.
  let slab: RecordSlab?
  /// The properties that differ.
  let changed: UInt64
}
