package import ArborModel
internal import LMDB

/// Checks all redundant data of a store for consistency.
///
/// Records are authoritative: they determine the expected contents of every index, derived
/// relationship and derived value. Links are compared with their inverse, ordered relationships with their second
/// database, counters with the numbers in use, and the history with the header.
///
/// The check reads one snapshot while the store stays in use, and needs memory for one entry per
/// index and record.
struct StoreChecker {
  let store: StoreEngine
  let snapshot: StoreSnapshot
  let reader: TransactionReader
  /// The expected contents of the indexes, by index number.
  let indexes: [IndexMaintainer]
  /// The expected contents of the relationships, by relationship number.
  let relationships: [ExpectedMembers]
  /// The binary values that records of the current entity refer to.
  var blobs: Set<BlobName> = []
  /// The number of chunks of ``blobs``.
  var blobChunkCount = 0
  var report = StoreCheckReport()
  /// Memory for records that are converted from an older layout.
  let upgradedRecords = SlabAllocator(slabSize: 4 << 10)
  /// Whether data that a migration dropped may still be present.
  var keepsFormerModel = false
  /// The computation of derived values, or `nil` if the model has none.
  private let derived: DerivedValues?
  /// The resolver for derived values.
  private var resolver: SnapshotResolver
  /// Whether to check the rules of the model for relationships.
  let checksRules: Bool
  /// The limit that ends the check early.
  let limit: WorkLimit
  /// A closure that is called with the progress of the check.
  let progress: StoreCheckProgress.Reporter?
  /// The databases whose digests are checked.
  let digested: [DigestedDatabase]

  /// The members that a relationship must have according to its inverse.
  final class ExpectedMembers {
    var run = MemberRun()
  }

  init(
    _ store: StoreEngine, _ snapshot: StoreSnapshot, _ digested: [DigestedDatabase] = [],
    checksRules: Bool = true, limit: WorkLimit = WorkLimit(),
    progress: StoreCheckProgress.Reporter? = nil
  ) throws(StoreError) {
    self.checksRules = checksRules
    self.store = store
    self.digested = digested
    self.limit = limit
    self.progress = progress
    self.snapshot = snapshot
    reader = try snapshot.reader
    derived = store.schema.hasDerivations ? try DerivedValues(store) : nil
    resolver = store.uncancelledResolver(reader)
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

  /// Checks every record of an entity and collects the index entries and members that it requires.
  private mutating func checkRecords(_ plan: WritePlan) throws(StoreError) {
    let counter = try checkCounter(StoreFormat.objectCounter(plan.entity.number))
    let allocator = SlabAllocator(slabSize: 4 << 10)
    let total = try storing(reader.statistics(plan.records).entries)
    let rules = checksRules ? plan.entity.relationships.filter(\.hasRule) : []
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
        checkCommit(of: found.value, number)
        checkValues(number, record, plan)
        for relationship in rules { try checkRule(number, record, relationship) }
        note(number, record, plan)
        try checkDerived(number, record, plan.entity)
        try checkClaims(number, record, plan)
        try checkBlobs(number, record, plan)
      } catch {
        guard case .corrupted(_, _, let what) = error else { throw error }
        add(.damagedRecord, number, ": \(what)")
      }
    }
  }

  /// Computes the derived values of a record and compares them with the stored ones.
  private mutating func checkDerived(
    _ number: ObjectNumber, _ record: RecordView, _ entity: EntitySchema
  ) throws(StoreError) {
    guard let derived, !entity.layout.derivedFields.isEmpty else { return }
    if resolver.failure != nil { resolver = store.uncancelledResolver(reader) }
    resolver.limit.begin()
    let wrong = try derived.wrongAttributes(of: number, record, entity, resolver, SlabAllocator())
    for attribute in wrong {
      add(
        .derivedValue, number, " has a stored \(attribute.name) that differs from its derivation.")
    }
  }

  /// Checks the number of a record. Returns whether it belongs to the entity among whose records it
  /// is stored. Otherwise the record's contents are not checked.
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
    return number.sequence <= ObjectNumber.maximumSequence
  }

  /// Checks that a stored record names a commit that the store has had.
  private mutating func checkCommit(of record: UnsafeRawBufferPointer, _ number: ObjectNumber) {
    guard let base = record.baseAddress else { return }
    let commit = RecordView(base: base, count: record.count).commit
    if (1...max(1, snapshot.sequence)).contains(commit) { return }
    add(
      .damagedRecord, number,
      " was written by commit \(commit), but the last one is \(snapshot.sequence).")
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

  /// Adds a problem of an object. Its description is a sentence that begins with the object's name.
  mutating func add(
    _ kind: StoreCheckReport.Problem.Kind, _ number: ObjectNumber, _ predicate: String
  ) {
    report.add(kind, name(number) + predicate, entity: entityName(number), object: number)
  }

  /// Returns the entity and number of an object, for messages.
  func name(_ number: ObjectNumber) -> String {
    "\(store.schema.entity(of: number)?.name ?? "entity \(number.entity)")/\(number.sequence)"
  }

  func entityName(_ number: ObjectNumber) -> String? { store.schema.entity(of: number)?.name }
}

extension StoreEngine {
  /// Checks the consistency of the store. Reads all of it, while other operations continue.
  ///
  /// Verifies the pages first, by reading the file without the memory map, because LMDB crashes on
  /// damaged pages. Then checks their contents.
  ///
  /// - Parameters:
  ///   - checksRules: Whether to report objects whose relationships violate the model's rules.
  ///   - progress: Called with the progress of the check, on the calling thread.
  ///   - revocation: A revocation that ends the check, in addition to the cancellation of its task.
  /// - Throws: `modelChanged` if another process has migrated the file, even if this process can
  ///   still read it; `interrupted` within milliseconds of cancellation or revocation.
  package func check(
    checksRules: Bool = true, _ progress: StoreCheckProgress.Reporter? = nil,
    revocation: Revocation? = nil
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
    var checker = try StoreChecker(
      self, snapshot, digested, checksRules: checksRules, limit: limit, progress: progress)
    return try checker.check()
  }
}
