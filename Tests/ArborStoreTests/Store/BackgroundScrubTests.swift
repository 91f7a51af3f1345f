import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborStore

/// The thread that scrubs a store behind it.
@Suite struct BackgroundScrubTests {
  @Test func itScrubsAndEnds() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let made = try store.file.lastScrub()
      store.file.scrubbing.begin(store.file, isUrgent: true)
      store.file.scrubbing.waitForEnd()
      #expect(try store.file.lastScrub() != made)
      // Another one may follow.
      let second = try store.file.lastScrub()
      store.file.scrubbing.begin(store.file, isUrgent: true)
      store.file.scrubbing.waitForEnd()
      #expect(try store.file.lastScrub() != second)
    }
  }

  /// What is not urgent waits some seconds, which closing the store does not.
  @Test func closingEndsIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let made = try store.file.lastScrub()
      let began = ContinuousClock.now
      store.file.scrubbing.begin(store.file, isUrgent: false)
      store.file.scrubbing.stop()
      #expect(ContinuousClock.now - began < .milliseconds(1900))
      #expect(try store.file.lastScrub() == made)
    }
  }

  /// A compaction does not wait for a scrub, and lets it begin anew.
  @Test func compactionPausesIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      store.file.scrubbing.begin(store.file, isUrgent: false)
      try store.file.compact()
      try store.file.scrub()
      store.file.scrubbing.stop()
    }
  }
}
