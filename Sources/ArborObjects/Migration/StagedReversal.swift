internal import ArborModel
internal import ArborStore

/// The way back from a migration in a copy: the store that the copy has taken the place of, until
/// the migration is confirmed.
enum StagedReversal {
  /// Puts the store back that a path led to before its last migration in a copy.
  ///
  /// - Returns: false where there was none, or it is confirmed.
  /// - Throws: `inUse` where something has one of the two stores open, `notAllowed` where something
  ///   was committed since.
  static func revert(_ path: String) throws(ArborError) -> Bool {
    try storing { () throws(StoreError) -> Result<Bool, ArborError> in
      let files = try MigrationFiles(path: path)
      guard files.keepsFormer else { return .success(false) }
      let lock = try MigrationLock(files)
      defer { lock.end() }
      let (journal, sequence) = try read(files)
      guard let journal, journal.phase == .done else { return .success(false) }
      guard journal.sequence == sequence else {
        return .failure(
          ArborError(
            .notAllowed,
            "\(path) was written to since it was migrated, which would be lost. Restore a backup, "
              + "or go on with the model that it has; the store as it was before is "
              + "\(files.former)."))
      }
      var opening = StoreOpening(.file(files.former), model: nil)
      opening.isMigrating = true
      let former = try StoreFile.open(opening)
      do {
        defer { former.close() }
        try former.removeMigrationMarker()
      }
      try files.restoreFormer()
      return .success(true)
    }.get()
  }

  private static func read(
    _ files: MigrationFiles
  ) throws(StoreError) -> (journal: MigrationJournal?, sequence: UInt64) {
    let file = try StoreFile.open(.reading(files.path))
    defer { file.close() }
    guard file.isReadOnly else { throw .inUse(path: files.path) }
    return (try MigrationJournal(of: file), try file.refreshSequence())
  }

  /// Removes the store as it was before the last migration in a copy; nothing where there is none.
  static func confirm(_ file: StoreFile) throws(StoreError) {
    guard let path = file.path else { return }
    let files = try MigrationFiles(path: path)
    guard files.keepsFormer, try MigrationJournal(of: file) != nil else { return }
    try file.setMetadata(MigrationJournal.key, nil)
    files.removeFormer()
  }
}
