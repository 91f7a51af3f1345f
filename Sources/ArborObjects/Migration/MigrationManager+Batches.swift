internal import ArborModel

/// The calls made by a step's code, which run in batches and are recorded in the journal.
extension MigrationManager {
  var batchSize: Int {
    switch batches {
    case .of(let size): max(1, size)
    case .atomic: 1000
    }
  }

  /// Runs one call made by the step's code, unless it was completed before an interruption.
  func call(_ body: (_ lastDone: UInt64?) throws -> Void) throws {
    defer { calls += 1 }
    if journal.calls > calls {
      // Changes made since the previous call were written with this one.
      newContext.rollback()
      return
    }
    if journal.lastDone != nil {
      newContext.rollback()
    } else if batches != .atomic, newContext.hasChanges {
      // Changes made outside of calls are written with the first batch.
      journal.lastDone = 0
      try commit()
    }
    try body(journal.lastDone)
    if batches == .atomic { return }
    journal.calls = calls + 1
    journal.lastDone = nil
    journal.objectsDone = 0
    try commit()
  }

  func passOfCode(
    over name: String, _ entities: [EntitySchema], behind lastDone: UInt64?,
    _ body: (ManagedObject, ManagedObject?) throws -> Void
  ) throws {
    journal.visited.formUnion(entities.map(\.name))
    try pass(over: name, entities, behind: lastDone) { old, new in
      do {
        try body(old, new)
      } catch {
        throw Self.failure(error, at: old)
      }
    }
  }

  /// Calls `body` with each object of the given entities of the older model and its counterpart, if
  /// any, and commits after each batch.
  func pass(
    over name: String, _ entities: [EntitySchema], behind lastDone: UInt64?,
    _ body: (ManagedObject, ManagedObject?) throws -> Void
  ) throws {
    progress.entity = name
    progress.objectCount = 0
    progress.objectsDone = lastDone == nil ? 0 : journal.objectsDone
    for entity in entities {
      progress.objectCount += try oldContext.count(FetchRequest(exactly: entity.name))
    }
    let done = lastDone.map { ObjectNumber(rawValue: $0) }
    for entity in entities.sorted(by: { $0.number < $1.number }) {
      if let done, done.entity > entity.number { continue }
      var last =
        done.flatMap { $0.entity == entity.number ? $0 : nil }
        ?? ObjectNumber(entity: entity.number, sequence: 0)
      while true {
        let batch = try entity.objects(behind: last, atMost: batchSize, in: oldContext)
        guard let end = batch.last else { break }
        let made = try newObjects(of: batch)
        for old in batch { try body(old, made[old.number.sequence]) }
        last = end.number
        progress.objectsDone += batch.count
        journal.objectsDone = progress.objectsDone
        try commitBatch(at: last.rawValue)
        report(progress)
      }
    }
    progress.entity = nil
  }

  private func newObjects(of batch: [ManagedObject]) throws -> [UInt64: ManagedObject] {
    let objects = try newContext.objects(with: batch.compactMap(newID))
    return Dictionary(
      objects.map { ($0.number.sequence, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func commitBatch(at lastDone: UInt64?) throws {
    try checkCancellation()
    guard batches != .atomic else { return }
    journal.lastDone = lastDone ?? journal.lastDone ?? 0
    try commit()
  }

  func commit() throws(ArborError) {
    try newContext.commit(marking: nil, metadata: [(MigrationJournal.key, journal.bytes)])
  }

  private static func failure(_ error: any Error, at old: ManagedObject) -> any Error {
    if error is CancellationError { return error }
    let id = old.objectID
    let known = error as? ArborError
    if known?.code == .cancelled || known?.code == .diskFull { return error }
    var failure = ArborError(
      known?.code ?? .invalidArgument,
      "\(id.entityName) \(id.number) could not be migrated: \(known?.message ?? "\(error)")"
    ).with(entity: id.entityName, objectID: id, keyPath: known?.keyPath)
    failure.violations = known?.violations ?? []
    failure.underlying = known == nil ? error : known?.underlying
    return failure
  }
}

extension ModelSchema {
  /// Returns the concrete entities among an entity and its subentities.
  func concreteEntities(of entity: EntitySchema) -> [EntitySchema] {
    let names = model.kinds(of: entity.name)
    return entities.filter { !$0.isAbstract && names.contains($0.name) }
  }
}

extension ManagedObjectModel {
  /// Returns the names of an entity and its subentities.
  func kinds(of name: String) -> Set<String> {
    Set(
      entities.filter { candidate in
        lineage(of: candidate).contains { $0.name == name }
      }.map(\.name))
  }
}

extension FetchRequest<ManagedObject> {
  /// Creates a request for the objects of an entity, without those of its subentities.
  init(exactly entityName: String) {
    self.init(entity: entityName)
    includesSubentities = false
  }
}

extension EntitySchema {
  /// Returns objects of exactly this entity whose numbers follow `number`, in ascending order.
  func objects(
    behind number: ObjectNumber, atMost count: Int, in context: ManagedObjectContext
  ) throws(ArborError) -> [ManagedObject] {
    var request = FetchRequest(exactly: name)
    request.fetchLimit = count
    let token = PageToken(
      values: [], number: number,
      fingerprint: request.description.fingerprint(storeID: context.store.id))
    request.description.pageToken = token.text
    return try context.fetch(request)
  }
}
