internal import ArborModel
internal import ArborStore

/// The reversal of a migration in a copy. It restores the store that the copy replaced, which is
/// kept until the migration is confirmed.
enum StagedReversal {
  /// Restores the store that was at a path before its last migration in a copy.
  ///
  /// - Parameter discardsCommits: Whether commits made since may be discarded.
  /// - Returns: `false` if there was no such migration, or it is confirmed.
  /// - Throws: `inUse` if one of the two stores is open; `notAllowed` if there are later commits
  ///   that may not be discarded.
  static func revert(_ path: String, discardsCommits: Bool) throws(ArborError) -> Bool {
    let files = try reporting(MigrationFiles(path: path))
    guard try reporting(files.keepsFormer) else { return false }
    let lock = try reporting(MigrationLock(files))
    defer { lock.end() }
    let (journal, sequence) = try reporting(read(files))
    guard let journal, journal.phase == .done else { return false }
    let commits = sequence - min(sequence, journal.sequence)
    guard commits == 0 || discardsCommits else { throw changed(commits) }
    try reporting(restore(files, after: sequence))
    return true
  }

  /// - Parameter sequence: The number of the newest commit of the migrated store. The reversal
  ///   follows it, so that numbers of commits never refer to another commit than before.
  private static func restore(
    _ files: MigrationFiles, after sequence: UInt64
  ) throws(StoreError) {
    let model = try withoutMarker(files.former) { (former) throws(StoreError) in
      try former.raiseSequence(to: sequence + 1)
      return former.modelFingerprint
    }
    try announce(model, files.path)
    do throws(StoreError) { try files.restoreFormer() } catch {
      try withoutMarker(files.path) { _ in }
      throw error
    }
  }

  /// Removes the marker of a migration from a file, and returns the result of `body`.
  static func withoutMarker<R>(
    _ path: String, _ body: (StoreEngine) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try StoreOpening.migrating(path).withFile { engine throws(StoreError) in
      try engine.removeMigrationMarker()
      return try body(engine)
    }
  }

  /// Announces the store's new model to all processes that have it open, and prevents them from
  /// writing.
  private static func announce(_ model: ModelFingerprint, _ path: String) throws(StoreError) {
    try StoreOpening.migrating(path).withFile { engine throws(StoreError) in
      try engine.setMigrationMarker(.reversal(to: model, generation: engine.modelGeneration))
    }
  }

  private static func changed(_ commits: UInt64) -> ArborError {
    ArborError(
      .notAllowed,
      "The migration cannot be reverted: \(commits) later "
        + "\(commits == 1 ? "commit" : "commits") would be lost. Pass dropping: "
        + ".everythingRemoved to drop them, or export the data and import it afterwards.")
  }

  private static func read(
    _ files: MigrationFiles
  ) throws(StoreError) -> (journal: MigrationJournal?, sequence: UInt64) {
    try StoreOpening.reading(files.path).withFile { engine throws(StoreError) in
      guard engine.isReadOnly else { throw .inUse(path: files.path) }
      return (try MigrationJournal(of: engine), try engine.refreshSequence())
    }
  }

  /// Removes the store from before the last migration in a copy, if it is kept.
  static func confirm(_ engine: StoreEngine) throws(StoreError) {
    guard let files = try former(of: engine) else { return }
    try engine.setMetadata(MigrationJournal.key, nil)
    files.removeFormer()
  }

  /// Returns the files of the store from before the last migration in a copy, or `nil` if it isn't
  /// kept.
  static func former(of engine: StoreEngine) throws(StoreError) -> MigrationFiles? {
    guard let path = engine.path else { return nil }
    let files = try MigrationFiles(path: path)
    guard try files.keepsFormer, try MigrationJournal(of: engine) != nil else { return nil }
    return files
  }
}
