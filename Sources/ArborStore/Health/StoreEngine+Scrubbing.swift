package import ArborFoundation
internal import LMDB

/// Schedules and runs scrubs of the store's file.
extension StoreEngine {
  /// Returns the scrub record of a snapshot, or `nil` if it is missing or unreadable.
  func scrubRecord(_ snapshot: borrowing StoreSnapshot) throws(StoreError) -> ScrubRecord? {
    let bytes = try snapshot.reader.entryIfPresent(StoreFormat.scrubKey, in: databases.arbor)
    return bytes.flatMap { ScrubRecord($0) }
  }

  /// Returns the time at which the last complete scrub ended, without reporting findings, or `nil`
  /// if there isn't one.
  func completedScrub() throws(StoreError) -> Date? {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    return try scrubRecord(snapshot)?.completed
  }

  /// Returns the time at which the last complete scrub of the file ended, or `nil` if there isn't
  /// one.
  package func lastScrub() throws(StoreError) -> Date? {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try scrubRecord(snapshot)?.completed
  }

  /// Scrubs the file now; see ``StoreScrub``.
  ///
  /// - Parameter recordsProgress: Whether the result is written to the store.
  /// - Throws: `corrupted` with the first finding, which makes the store suspect; `interrupted` if
  ///   the task is cancelled; `modelChanged`; `closed`.
  package func scrub(
    recordsProgress: Bool = true, _ report: StoreScrubProgress.Reporter? = nil
  ) throws(StoreError) {
    try snapshot().close()
    guard !hasLaterModel else { throw .modelChanged }
    func run() throws(StoreError) {
      let scrub = StoreScrub(
        self, .atOnce, recordsProgress: recordsProgress, report,
        pause: { _ in self.hasEnded || Task<Never, Never>.isCancelled })
      try scrub.run(anew: true)
    }
    do throws(StoreError) {
      try scrubbing.paused(self) { () throws(StoreError) in
        // An explicit scrub runs even if another process is scrubbing.
        if try !scrubAlone(run) { try run() }
      }
    } catch {
      // Marks the finding as reported.
      if case .corrupted = error { try health.report() }
      throw error
    }
  }

  /// Runs `body` while no other process scrubs the file in the background.
  ///
  /// - Returns: `false` without running `body` if another process is already scrubbing. Read-only
  ///   stores record nothing, so each of them scrubs on its own.
  package func scrubAlone(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    if isReadOnly || path == nil {
      try body()
      return true
    }
    guard let claim = environment.claimScrub() else { return false }
    defer { withExtendedLifetime(claim) {} }
    try body()
    return true
  }

  /// Starts a background scrub if one is due; see ``BackgroundScrub``.
  ///
  /// - Parameter interval: The time since the last complete scrub after which the next one is due,
  ///   in seconds. `nil` for never, unless the file has not been written since the machine booted.
  func scrubInBackground(after interval: TimeInterval?) throws(StoreError) {
    // Saving a scrub's progress is a transaction, and a migration in a copy treats every
    // transaction of its original as a conflicting commit.
    if isMigrating { return }
    if !wasWrittenSinceBoot { return scrubbing.begin(self, isUrgent: true) }
    guard let interval, path != nil, try isScrubDue(interval) else { return }
    scrubbing.begin(self, isUrgent: false)
  }

  /// Returns whether a scrub is due: the last complete scrub is missing or older than `interval`
  /// seconds.
  func isScrubDue(_ interval: TimeInterval) throws(StoreError) -> Bool {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    // The absolute value, because the clock may have been set back.
    guard let last = try scrubRecord(snapshot)?.completed else { return true }
    return abs(last.timeIntervalSinceNow) >= interval
  }
}
