package import ArborModel
internal import LMDB

/// Compares everything that a store keeps twice, and everything that must not contradict itself.
///
/// The records are the truth: from them it works out what every index and every derived
/// relationship has to hold, and compares that with what they do hold. Links are compared with
/// their other side, ordered relationships with their second database, counters with the numbers in
/// use, the history with the header.
///
/// It reads one snapshot, while others go on, and needs memory for one entry per index and record.
struct StoreChecker {
  let store: StoreEngine
  let snapshot: StoreSnapshot
  let reader: TransactionReader
  /// What the indexes have to hold, by their numbers.
  let indexes: [IndexMaintainer]
  /// What the relationships have to hold, by their numbers.
  let relationships: [ExpectedMembers]
  /// The binaries that the records of the entity at hand refer to, and their chunks.
  var blobs: Set<BlobName> = []
  var blobChunkCount = 0
  var report = StoreCheckReport()
  /// Where a record of an older layout lies while it is looked at.
  let upgradedRecords = SlabAllocator(slabSize: 4 << 10)
  /// Whether what a migration dropped may still be there.
  var keepsFormerModel = false
  /// What ends the check.
  let limit: WorkLimit
  /// Who is told how far the check is.
  let progress: StoreCheckProgress.Reporter?
  /// The databases whose digests are checked.
  let digested: [DigestedDatabase]

  /// The members that the other side asks of one relationship.
  final class ExpectedMembers {
    var run = MemberRun()
  }

  init(
    _ store: StoreEngine, _ snapshot: StoreSnapshot, _ digested: [DigestedDatabase] = [],
    limit: WorkLimit = WorkLimit(), progress: StoreCheckProgress.Reporter? = nil
  ) throws(StoreError) {
    self.store = store
    self.digested = digested
    self.limit = limit
    self.progress = progress
    self.snapshot = snapshot
    reader = try snapshot.reader
    indexes = try IndexMaintainer.all(of: store.databases, store.schema, storeID: store.id)
    relationships = store.databases.relationships.map { _ in ExpectedMembers() }
  }

  mutating func check() throws(StoreError) -> StoreCheckReport {
    guard try checkSizes() else { return report }
    try checkMetadata()
    for entity in store.schema.concreteEntities {
      guard let plan = store.plans[entity.index] else { continue }
      try checkRecords(plan)
      try checkStrayBlobs(plan)
    }
    for number in indexes.indices {
      progress?(StoreCheckProgress(stage: .indexes, done: number, total: indexes.count))
      try checkIndex(number)
    }
    try collectLinks()
    for index in relationships.indices {
      progress?(StoreCheckProgress(stage: .relationships, done: index, total: relationships.count))
      try checkRelationship(index)
    }
    try checkHistory()
    try checkDigests()
    return report
  }

  // MARK: Records

  /// Reads every record of an entity and notes what it asks of indexes and relationships.
  private mutating func checkRecords(_ plan: WritePlan) throws(StoreError) {
    let counter = try checkCounter(StoreFormat.objectCounter(plan.entity.number))
    let allocator = SlabAllocator(slabSize: 4 << 10)
    let total = try storing(reader.statistics(plan.records).entries)
    var done = 0
    try reader.forEachEntry(of: plan.records, limit) { (found) throws(StoreError) in
      if let progress, done.isMultiple(of: StoreCheckProgress.interval) {
        progress(StoreCheckProgress(stage: .records(plan.entity.name), done: done, total: total))
      }
      done += 1
      let number = ObjectNumber(rawValue: found.integerKey)
      guard checkNumber(number, plan.entity, counter) else { return }
      do throws(StoreError) {
        let record = try store.layouts.verified(
          found.value, of: number, entity: plan.entity, allocator: allocator)
        report.recordCount += 1
        checkValues(number, record, plan)
        note(number, record, plan)
        try checkClaims(number, record, plan)
        try checkBlobs(number, record, plan)
      } catch {
        guard case .corrupted(_, _, let what) = error else { throw error }
        add(.damagedRecord, number, ": \(what)")
      }
    }
  }

  /// Returns whether a number is of the entity whose records it is among: what the record holds
  /// concerns another one otherwise.
  private mutating func checkNumber(
    _ number: ObjectNumber, _ entity: EntitySchema, _ counter: UInt64
  ) -> Bool {
    guard number.entity == entity.number else {
      report.add(
        .misplacedRecord, "The key \(number.rawValue) in \(entity.name) belongs to another entity.",
        entity: entity.name, object: number)
      return false
    }
    guard number.sequence >= counter else { return true }
    add(.counter, number, " exists, but the next number to reserve is \(counter).")
    return true
  }

  private func note(_ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan) {
    for index in plan.indexes {
      indexes[index.number].collect(number, old: nil, new: record, plan: index)
    }
    for reference in plan.references {
      guard let target = record.reference(reference.field),
        let relationshipIndex = reference.listIndex
      else {
        continue
      }
      relationships[relationshipIndex].run.append(
        MemberChange(owner: target, member: number, isRemoval: false))
    }
  }

  // MARK: Helpers

  /// Reports an object in a sentence that begins with its name.
  mutating func add(
    _ kind: StoreCheckReport.Problem.Kind, _ number: ObjectNumber, _ predicate: String
  ) {
    report.add(kind, name(number) + predicate, entity: entityName(number), object: number)
  }

  /// The entity and number of an object, for messages.
  func name(_ number: ObjectNumber) -> String {
    "\(store.schema.entity(of: number)?.name ?? "entity \(number.entity)")/\(number.sequence)"
  }

  func entityName(_ number: ObjectNumber) -> String? { store.schema.entity(of: number)?.name }
}

extension StoreEngine {
  /// Checks that the store does not contradict itself. Reads everything; others go on meanwhile.
  ///
  /// First the pages by plain reads, because the engine dies on damaged ones, then what they hold.
  ///
  /// - Throws: `modelChanged` where another process has given the file another model, even if what
  ///   this one knows is still read; `interrupted` within milliseconds of the cancellation of the
  ///   task that runs it, or of the revocation.
  /// - Parameters:
  ///   - progress: Is told how far the check is, on the thread that runs it.
  ///   - revocation: What ends the check beside its task.
  package func check(
    _ progress: StoreCheckProgress.Reporter? = nil, revocation: Revocation? = nil
  ) throws(StoreError) -> StoreCheckReport {
    let limit = WorkLimit()
    limit.revocation = revocation
    try snapshot().close()
    guard !hasLaterModel else { throw .modelChanged }
    progress?(StoreCheckProgress(stage: .pages, done: 0, total: 1))
    do throws(StoreError) { try verifyPages(limit) } catch {
      guard case .corrupted(_, _, let what) = error else { throw error }
      var report = StoreCheckReport()
      report.add(.damagedPage, what)
      return report
    }
    let digested = try digestedDatabases()
    let snapshot = try logSnapshot()
    defer { snapshot.close() }
    var checker = try StoreChecker(self, snapshot, digested, limit: limit, progress: progress)
    return try checker.check()
  }
}
