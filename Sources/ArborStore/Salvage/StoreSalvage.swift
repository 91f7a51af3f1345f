package import ArborFoundation
package import ArborModel
internal import LMDB

/// Recovers the contents of a damaged store's file into a new store.
///
/// The damaged file is read with bounded reads, without the memory map, and never changed. Records
/// are authoritative: indexes, derived relationships and derived values are rebuilt from them.
package struct StoreSalvage {
  private let source: SalvageSource
  private let model: SalvagedModel
  private var outcome = SalvageOutcome()

  /// Salvages the store at a path into a new file.
  ///
  /// - Parameters:
  ///   - model: The model of the store, for a file that no longer contains it.
  ///   - target: The path of the new store, which must not exist.
  ///   - maximumObjectsIndexedAtOnce: Indexes over more objects than this are filled in batches.
  /// - Throws: `inputOutput` with `EEXIST` if the target exists; `missing` if there is no file to
  ///   salvage; `inUse` if another process has it open; `corrupted` if the file contains no model
  ///   and none is given, or the given one does not match; `notAStore` if nothing in the file looks
  ///   like a page of a store. In these cases, no new file is left at the target.
  package static func run(
    from path: String, to target: String, model: ManagedObjectModel? = nil,
    maximumObjectsIndexedAtOnce: Int = 100_000
  ) throws(StoreError) -> SalvageResult {
    if try StoreFiles.exists(target) {
      throw .inputOutput(operation: "salvage", path: target, errno: EEXIST)
    }
    let damaged = try SalvageSource.open(path)
    guard try StoreFiles.exists(JournalFile.path(of: damaged.path)) else {
      return try run(SalvageSource(damaged), to: target, model, maximumObjectsIndexedAtOnce)
    }
    // The damaged file is only read, so its journal is applied to a copy.
    let copy = try storing(path: target, UnfinishedFile(beside: target))
    defer { StoreFiles.discard(copy.path) }
    guard let isNewest = try JournalRecovery.copy(damaged, to: copy.path) else {
      return try run(SalvageSource(damaged), to: target, model, maximumObjectsIndexedAtOnce)
    }
    let source = try SalvageSource(SalvageSource.open(copy.path), mayBeBehind: !isNewest)
    return try run(source, to: target, model, maximumObjectsIndexedAtOnce)
  }

  private static func run(
    _ source: SalvageSource, to target: String, _ model: ManagedObjectModel?,
    _ maximumObjectsIndexedAtOnce: Int
  ) throws(StoreError) -> SalvageResult {
    let salvagedModel = try SalvagedModel(source, given: model)
    var salvage = StoreSalvage(source: source, model: salvagedModel)
    var storeID = UUID()
    try StoreCreation.install(at: target) { (temporary) throws(StoreError) in
      storeID = try salvage.fill(temporary, maximumObjectsIndexedAtOnce)
    }
    if salvagedModel.schema.hasDerivations {
      let store = try StoreEngine.open(StoreOpening(.file(target), model: nil))
      defer { store.close() }
      try store.recomputeDerivedValues()
    }
    return SalvageResult(outcome: salvage.outcome, schema: salvagedModel.schema, storeID: storeID)
  }

  private init(source: SalvageSource, model: SalvagedModel) {
    (self.source, self.model) = (source, model)
    outcome.state = source.state
    outcome.model = model.origin
    outcome.isCatalogMade = model.isCatalogMade
    outcome.sequence = source.header?.sequence
    outcome.isHeaderCertain = source.isHeaderCertain
  }

  /// Fills a new file.
  private mutating func fill(
    _ path: String, _ maximumObjectsIndexedAtOnce: Int
  ) throws(StoreError) -> UUID {
    let target = try SalvageTarget(path: path, model, header: source.header)
    let records = SalvagedRecords(source, model, target)
    try records.copy()
    let blobs = SalvagedBlobs(source, target)
    try blobs.copy(everywhere: !records.lost.isEmpty)
    let mending = SalvageMending(target)
    let indexes = SalvageIndexes(target: target)
    let isSmall = try indexes.isSmall(maximumObjectsIndexedAtOnce)
    while true {
      while try mending.run() {}
      let removed = try indexes.build(atOnce: isSmall)
      if removed.isEmpty { break }
      outcome.noteLeftOut(removed)
    }
    try blobs.removeStrays()
    let links = SalvagedLinks(source, target)
    try links.copy()
    try links.agree()
    note(mending, links)
    try count(records, target)
    try SalvageEnding(source: source, target: target).write(
      greatest: records.greatest, expected: records.expected, commit: records.greatestCommit,
      &outcome)
    try storing(path: path) { () throws(LMDBError) in
      try target.environment.synchronize()
      try target.environment.close()
    }
    return target.storeID
  }

  private mutating func note(_ mending: SalvageMending, _ links: SalvagedLinks) {
    outcome.lostLinks = Array(
      (mending.lostLinks.lost + links.outcome.lost).prefix(SalvageOutcome.maximumListed))
    outcome.lostLinkCount = mending.lostLinks.lostCount + links.outcome.lostCount
    outcome.lostBinaries = mending.lostBinaries
    outcome.lostBinaryCount = mending.lostBinaryCount
  }

  private mutating func count(
    _ records: SalvagedRecords, _ target: SalvageTarget
  ) throws(StoreError) {
    var (entities, doubtful): ([SalvageOutcome.Entity], [ObjectNumber]) = ([], [])
    try target.read { (reader) throws(StoreError) in
      try storing { () throws(LMDBError) in
        var doubtfulCounts: [UInt16: Int] = [:]
        let cursor = try reader.cursor(target.doubtful)
        while let found = try cursor.next() {
          let number = ObjectNumber(rawValue: found.integerKey)
          doubtfulCounts[number.entity, default: 0] += 1
          if doubtful.count < SalvageOutcome.maximumListed { doubtful.append(number) }
        }
        for plan in target.entities {
          let entity = plan.entity
          var counts = SalvageOutcome.Entity(name: entity.name)
          let present = try reader.entryCount(plan.records)
          counts.doubtful = doubtfulCounts[entity.number] ?? 0
          counts.kept = present - counts.doubtful
          if let expected = records.expected[entity.number] {
            counts.lost = max(0, Int(clamping: expected) - present)
          }
          entities.append(counts)
        }
      }
    }
    outcome.entities = entities.sorted { $0.name < $1.name }
    outcome.doubtful = doubtful
  }
}

/// The result of a salvage, with the data to interpret its numbers.
package struct SalvageResult: Sendable {
  package let outcome: SalvageOutcome
  package let schema: ModelSchema
  package let storeID: UUID
}
