internal import ArborModel
internal import ArborStore

/// A migration in a copy, which replaces the store when it is done.
///
/// ```
/// store ──copy──▶ stage 1: the open model ─passes, code─▶ the hop's model ──copy──▶ stage 2: …
///                                                                  the last one ──▶ the store
/// ```
///
/// The store is the old side of the first hop, and the file of each hop is the old side of the
/// next, so that code reads objects that no longer change. A file receives its name once it has the
/// open model, ``StagedModels/relaxed``. From then on, each commit records the progress in the
/// file, so that the work continues there if the process is killed.
struct StagedMigration {
  let files: MigrationFiles
  let chain: MigrationChain
  private let opening: StoreOpening
  private let report: (MigrationProgress) -> Void
  /// The names of the data that may be dropped, or `nil` for all data.
  let names: Set<String>?
  private let plan: UInt128

  init(
    _ files: MigrationFiles, _ chain: MigrationChain, _ opening: StoreOpening,
    _ options: StoreOptions, _ report: @escaping (MigrationProgress) -> Void
  ) {
    self.files = files
    self.chain = chain
    self.opening = opening
    self.report = report
    names = opening.migration.names
    plan = chain.digest
  }

  /// Migrates the store, or continues an interrupted migration.
  ///
  /// - Throws: `modelMismatch` with the obstacles, and other errors. The store is unchanged, and
  ///   the migration's files are removed. After `cancelled`, `deadlineExceeded`, `diskFull`,
  ///   `inputOutput` and `inUse` they are kept instead, and the next call continues with them.
  func run() throws(ArborError) {
    let lock = try reporting(MigrationLock(files))
    do {
      defer { lock.end() }
      // Another process may have migrated the store by now.
      guard try !isDone() else { return }
      try refuseKnownObstacles()
      do throws(ArborError) {
        try migrate()
      } catch {
        if !Self.isInterruption(error) { try giveUp() }
        throw error
      }
    }
    var progress = MigrationProgress(hop: chain.hops.count, hopCount: chain.hops.count)
    progress.phase = .done
    report(progress)
  }

  private func isDone() throws(ArborError) -> Bool {
    try reporting(StoreOpening.reading(files.path).withFile(\.modelFingerprint))
      == chain.target.fingerprint
  }

  /// Abandons the migration and removes its files.
  private func giveUp() throws(ArborError) {
    files.discard(hops: chain.hops.count)
    try reporting(
      stageOpening(files.path).withFile { engine throws(StoreError) in
        try engine.removeMigrationMarker()
      })
  }

  private var planText: String { String(plan, radix: 16) }

  private static func isInterruption(_ error: ArborError) -> Bool {
    switch error.code {
    case .cancelled, .deadlineExceeded, .diskFull, .inputOutput, .inUse: true
    default: false
    }
  }

  private func migrate() throws(ArborError) {
    let origin = try begin()
    var hop = try resumed(origin)
    while hop <= chain.hops.count {
      try run(hop, origin)
      if hop > 1 { files.removeStage(hop - 1) }
      hop += 1
    }
    guard try reporting(files.swap(chain.hops.count, origin: origin)) else {
      throw ArborError(
        .conflict,
        "\(files.path) was modified while it was being migrated. Reopen the store to restart the "
          + "migration.")
    }
  }

  /// Marks the store as being migrated.
  ///
  /// - Returns: The ID of the store's last transaction.
  private func begin() throws(ArborError) -> UInt64 {
    try reporting(
      stageOpening(files.path).withFile { engine throws(StoreError) in
        if let marker = try engine.migrationMarker(), marker.plan != plan {
          throw .migrationUnderWay(marker)
        }
        return try engine.beginMigration(plan, to: chain.target)
      })
  }

  /// Returns the hop to continue with, and removes files of another plan or another state of the
  /// store.
  private func resumed(_ origin: UInt64) throws(ArborError) -> Int {
    for hop in stride(from: chain.hops.count, through: 1, by: -1) {
      guard let journal = try journalLeft(of: hop), journal.plan == planText,
        journal.origin == origin
      else { continue }
      return journal.hop
    }
    files.discard(hops: chain.hops.count)
    return 1
  }

  /// Returns the journal in the file of a hop, or `nil` if there is no file with a journal.
  private func journalLeft(of hop: Int) throws(ArborError) -> MigrationJournal? {
    do throws(ArborError) {
      guard try reporting(files.exists(hop)) else { return nil }
      return try storedJournal(of: hop)
    } catch {
      // A damaged file is recreated. A file that is temporarily unreadable is kept.
      if Self.isInterruption(error) { throw error }
      return nil
    }
  }

  // MARK: One hop

  private func run(_ number: Int, _ origin: UInt64) throws(ArborError) {
    let hop = chain.hops[number - 1]
    var progress = MigrationProgress(hop: number, hopCount: chain.hops.count)
    report(progress)
    var renames: [String: String] = [:]
    while true {
      let models = try reporting(
        StagedModels(ofStoreAt: files.stage(number - 1), to: hop, renames: renames))
      let isMade = try reporting(files.exists(number))
      if number > 1, hop.step == nil, !models.needsPass, !isMade {
        return try promote(number, hop, origin)
      }
      if !isMade {
        let start = MigrationJournal(plan: planText, origin: origin, hop: number, renames: renames)
        try reporting(prepare(number, hop, models, start))
      }
      var journal = try journal(of: number)
      if journal.renames != renames {
        renames = journal.renames
        continue
      }
      if journal.phase == .objects {
        progress.phase = .objects
        let next = try work(number, hop, models, journal, progress)
        if let rename = next.rename {
          renames[rename.former] = rename.new
          files.removeStage(number)
          continue
        }
        journal = next.journal
      }
      progress.phase = .finishing
      report(progress)
      try finish(number, hop, journal)
      return
    }
  }

  /// Creates the file of a hop: a copy of the previous one with the relaxed model.
  private func prepare(
    _ number: Int, _ hop: MigrationHop, _ models: StagedModels, _ journal: MigrationJournal
  ) throws(StoreError) {
    let source = try StoreEngine.open(.reading(files.stage(number - 1)))
    defer { source.close() }
    // The obstacles in the store itself are known.
    if number > 1, hop.step == nil {
      let found = try source.migrationObstacles(
        to: hop.target, via: hop.versions, dropping: names, passes: true, models)
      guard found.isEmpty else {
        throw .modelMismatch(MigrationRefusal(.obstacles, obstacles: found))
      }
    }
    try files.makeStage(number, from: source) { (path) throws(StoreError) in
      try stageOpening(path).withFile { copy throws(StoreError) in
        try copy.removeMigrationMarker()
        // The original keeps the data that is needed to revert its last migration.
        try copy.confirmMigration()
      }
      for model in [models.bridge, models.relaxed].compactMap({ $0 }) {
        var opening = stageOpening(path, model)
        opening.isStaged = true
        opening.migration = .lightweight(dropping: nil)
        if model == models.bridge ?? models.relaxed { opening.versionsBetween = hop.versions }
        try StoreEngine.open(opening).close()
      }
      try stageOpening(path).withFile { engine throws(StoreError) in
        try engine.setMetadata(MigrationJournal.key, journal.bytes)
      }
    }
  }

  /// Migrates the file of the previous hop to the next version. Changes of the catalog alone don't
  /// need an old side.
  private func promote(_ number: Int, _ hop: MigrationHop, _ origin: UInt64) throws(ArborError) {
    var opening = stageOpening(files.stage(number - 1), hop.target)
    opening.versionsBetween = hop.versions
    try reporting(complete(opening, MigrationJournal(plan: planText, origin: origin, hop: number)))
    try reporting(files.promote(number - 1))
  }

  /// Migrates a file to the hop's model and marks its journal as done.
  private func complete(_ opening: StoreOpening, _ journal: MigrationJournal) throws(StoreError) {
    var (opening, journal) = (opening, journal)
    opening.migration = .lightweight(dropping: nil)
    journal.phase = .done
    try opening.withFile { engine throws(StoreError) in
      try engine.confirmMigration()
      journal.sequence = try engine.refreshSequence() + 1
      try engine.setMetadata(MigrationJournal.key, journal.bytes)
    }
  }

  /// Returns options for opening a file of the migration, or the store itself, which has the
  /// marker.
  private func stageOpening(_ path: String, _ model: ManagedObjectModel? = nil) -> StoreOpening {
    var stage = StoreOpening(.file(path), model: model)
    stage.isDurable = opening.isDurable
    // The original still contains the data that is dropped.
    stage.isMigrating = true
    stage.initialMapSize = opening.initialMapSize
    stage.maximumMapSize = opening.maximumMapSize
    return stage
  }

  private func journal(of number: Int) throws(ArborError) -> MigrationJournal {
    if let journal = try storedJournal(of: number) { return journal }
    throw ArborError(
      .corrupted,
      "\(files.stage(number)) is not a migration file. Remove it, and reopen the store.")
  }

  private func storedJournal(of number: Int) throws(ArborError) -> MigrationJournal? {
    try reporting(StoreOpening.reading(files.stage(number)).withFile(MigrationJournal.init(of:)))
  }

  /// Runs the pass over the properties, then the step's code.
  ///
  /// - Returns: The journal afterwards, or the rename that the code requested.
  private func work(
    _ number: Int, _ hop: MigrationHop, _ models: StagedModels, _ journal: MigrationJournal,
    _ progress: MigrationProgress
  ) throws(ArborError) -> (journal: MigrationJournal, rename: (former: String, new: String)?) {
    let old = try PersistentStore(
      at: .path(files.stage(number - 1)), options: StoreOptions(isReadOnly: true))
    defer { old.close() }
    let new = try PersistentStore(
      at: .path(files.stage(number)),
      options: StoreOptions(
        durability: opening.isDurable ? .full : .relaxed, initialMapSize: opening.initialMapSize,
        maximumMapSize: opening.maximumMapSize))
    defer { new.close() }
    let migration = MigrationManager(
      old, new, models, journal, hop.step?.batches ?? .of(1000), progress, report)
    do {
      try PropertyPass(migration: migration).run()
      try hop.step?.code(migration)
    } catch {
      if let rename = migration.wantedRename { return (journal, rename) }
      throw Self.public(error)
    }
    if let rename = migration.wantedRename { return (journal, rename) }
    try refuseWhatIsLost(hop, models, migration.journal, migration.oldContext)
    migration.journal.phase = .finishing
    try migration.commit()
    return (migration.journal, nil)
  }

  private static func `public`(_ error: any Error) -> ArborError {
    switch error {
    case let error as ArborError: return error
    case is CancellationError: return ArborError(Interruption.cancelled)
    default:
      var failure = ArborError(.invalidArgument, "The store could not be migrated: \(error)")
      failure.underlying = error
      return failure
    }
  }

  /// Migrates the file of a hop to the hop's model, checking its rules.
  private func finish(
    _ number: Int, _ hop: MigrationHop, _ journal: MigrationJournal
  ) throws(ArborError) {
    guard journal.phase != .done else { return }
    try refuseBrokenRules(number, hop)
    var opening = stageOpening(files.stage(number), hop.target)
    // Derived attributes are already computed.
    opening.isStaged = true
    try reporting(complete(opening, journal))
  }
}
