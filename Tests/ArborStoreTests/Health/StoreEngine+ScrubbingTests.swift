import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// When a store's file is scrubbed, and by which scrubber.
@Suite struct StoreEngineScrubbingTests {
  private static let day: Double = 86_400

  /// Whether a store that was scrubbed some days ago is scrubbed in the background when opened.
  private func isScrubbed(
    daysAfter days: Double?, interval: Double? = 7 * day, isMigrating: Bool = false
  ) throws -> Bool {
    let folder = try TemporaryFolder()
    var opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
    opening.scrubInterval = nil
    var file = try StoreEngine.open(opening)
    let record = days.map { ScrubRecord(completed: Date(timeIntervalSinceNow: -$0 * Self.day)) }
    try file.setScrubRecord(record)
    file.close()
    opening.scrubInterval = interval
    opening.isMigrating = isMigrating
    file = try StoreEngine.open(opening)
    defer { file.close() }
    let before = try file.completedScrub()
    file.scrubbing.waitForEnd()
    try TemporaryStore.check(path: folder.path("a.arbor"))
    return try file.completedScrub() != before
  }

  @Test("A store is scrubbed once per interval, unless scrubbing is disabled")
  func aStoreIsScrubbedOnceAWeek() throws {
    #expect(try !isScrubbed(daysAfter: 6.9))
    #expect(try isScrubbed(daysAfter: 7.1))
    #expect(try isScrubbed(daysAfter: nil))
    #expect(try !isScrubbed(daysAfter: 7.1, interval: nil))
    #expect(try !isScrubbed(daysAfter: nil, interval: nil))
  }

  @Test("A store that is being migrated is not scrubbed")
  func aMigrationIsNotScrubbed() throws {
    #expect(try !isScrubbed(daysAfter: 7.1, isMigrating: true))
    #expect(try !isScrubbed(daysAfter: nil, isMigrating: true))
  }

  /// If the clock was set back, the last scrub seems to be in the future. Small differences are
  /// accepted, and larger ones make a scrub due.
  @Test("A clock that was set back doesn't postpone the next scrub")
  func aClockThatWasSetBackPutsNothingOff() throws {
    #expect(try !isScrubbed(daysAfter: -0.1))
    #expect(try isScrubbed(daysAfter: -7.1))
    #expect(try isScrubbed(daysAfter: -10_000))
  }

  @Test("Only the holder of the claim scrubs")
  func oneOfSeveralScrubs() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      var claim = file.environment.claimScrub()
      #expect(claim != nil)
      var runs = 0
      let isRefused = try !file.scrubAlone { () throws(StoreError) in runs += 1 }
      #expect(isRefused && runs == 0)
      // An explicit scrub doesn't need the claim.
      let before = try file.completedScrub()
      try file.scrub()
      #expect(try file.completedScrub() != before)
      claim = nil
      var isTaken = false
      let isOurs = try file.scrubAlone { () throws(StoreError) in
        runs += 1
        isTaken = file.environment.claimScrub() == nil
      }
      #expect(isOurs && isTaken && runs == 1)
      #expect(throws: StoreError.self) {
        _ = try file.scrubAlone { () throws(StoreError) in throw .closed }
      }
      #expect(file.environment.claimScrub() != nil)
    }
  }
}

extension StoreEngine {
  /// Stores the record of a scrub, or removes it.
  func setScrubRecord(_ record: ScrubRecord?) throws {
    try runTransaction { (transaction, _) throws(StoreError) in
      try storing { () throws(LMDBError) in
        let key = Array(StoreFormat.scrubKey.utf8)
        guard let record else {
          try transaction.delete(databases.arbor, key: key)
          return
        }
        try transaction.put(databases.arbor, key: key, value: record.encoded())
      }
    }
  }

  /// Returns the stored record of scrubs.
  func storedScrubRecord() throws -> ScrubRecord? {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try scrubRecord(snapshot)
  }
}
