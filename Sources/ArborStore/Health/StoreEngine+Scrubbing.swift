package import Foundation
internal import LMDB

/// When a store's file is scrubbed, and by whom.
extension StoreEngine {
  /// What a snapshot says of the last scrub; nil where there was none, or nobody knows.
  func scrubRecord(_ snapshot: borrowing StoreSnapshot) throws(StoreError) -> ScrubRecord? {
    let bytes = try snapshot.reader.entryIfPresent(StoreFormat.scrubKey, in: databases.arbor)
    return bytes.flatMap { ScrubRecord($0) }
  }

  /// When the last complete scrub ended, whatever was found since; nil where there was none.
  func completedScrub() throws(StoreError) -> Date? {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    return try scrubRecord(snapshot)?.completed
  }

  /// When the file was scrubbed last as a whole; nil where it was not.
  package func lastScrub() throws(StoreError) -> Date? {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try scrubRecord(snapshot)?.completed
  }

  /// Scrubs the file at once; see ``StoreScrub``.
  ///
  /// - Throws: `corrupted` with the first finding, which makes the store suspect; `interrupted`
  ///   where the task that runs it is cancelled; `modelChanged`, `closed`.
  package func scrub(_ report: StoreScrubProgress.Reporter? = nil) throws(StoreError) {
    try snapshot().close()
    guard !hasLaterModel else { throw .modelChanged }
    func run() throws(StoreError) {
      let scrub = StoreScrub(
        self, .atOnce, report, pause: { _ in self.hasEnded || Task<Never, Never>.isCancelled })
      try scrub.run(anew: true)
    }
    do throws(StoreError) {
      try scrubbing.paused(self) { () throws(StoreError) in
        // A caller that asks for it is not put off.
        if try !scrubAlone(run) { try run() }
      }
    } catch {
      // Nobody else need be told of it.
      if case .corrupted = error { try health.report() }
      throw error
    }
  }

  /// Runs `body` while no other process scrubs the file behind its store.
  ///
  /// - Returns: false where another one does so already; `body` has not been run then. Those who
  ///   may only read keep nothing, and each of them reads for itself.
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

  /// Begins a scrub behind the store where one is due; see ``BackgroundScrub``.
  ///
  /// - Parameter interval: How long after the last complete one it is, in seconds; nil for never,
  ///   unless the last writer may have died with its machine.
  func scrubInBackground(after interval: TimeInterval?) throws(StoreError) {
    // What a scrub keeps of itself is a transaction, and a migration in a copy takes every one that
    // its original gets for somebody's commit.
    if isMigrating { return }
    if !wasWrittenSinceBoot { return scrubbing.begin(self, isUrgent: true) }
    guard let interval, path != nil, try isScrubDue(interval) else { return }
    scrubbing.begin(self, isUrgent: false)
  }

  /// Whether the last complete scrub is longer ago than `interval`, in seconds, or unknown, or
  /// digests are unknown.
  func isScrubDue(_ interval: TimeInterval) throws(StoreError) -> Bool {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    // The clock may have been set back, by more than that.
    guard let last = try scrubRecord(snapshot)?.completed, abs(last.timeIntervalSinceNow) < interval
    else { return true }
    if case .known(let digests) = try digests(snapshot) { return digests.isCounting }
    return !isReadOnly
  }
}
