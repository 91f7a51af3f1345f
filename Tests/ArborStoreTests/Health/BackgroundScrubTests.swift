import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Scrubbing a store on a background thread.
@Suite struct BackgroundScrubTests {
  @Test("A background scrub completes, and another one can follow")
  func itScrubsAndEnds() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let made = try store.file.lastScrub()
      store.file.scrubbing.begin(store.file, isUrgent: true)
      store.file.scrubbing.waitForEnd()
      #expect(try store.file.lastScrub() != made)
      // Another scrub may follow.
      let second = try store.file.lastScrub()
      store.file.scrubbing.begin(store.file, isUrgent: true)
      store.file.scrubbing.waitForEnd()
      #expect(try store.file.lastScrub() != second)
    }
  }

  @Test("Closing a store doesn't wait for the start of a scrub")
  func closingEndsIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let made = try store.file.lastScrub()
      let began = ContinuousClock.now
      store.file.scrubbing.begin(store.file, isUrgent: false)
      store.file.scrubbing.stop()
      #expect(ContinuousClock.now - began < .milliseconds(1900))
      #expect(try store.file.lastScrub() == made)
    }
  }

  @Test("A compaction doesn't wait for a background scrub")
  func compactionPausesIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      store.file.scrubbing.begin(store.file, isUrgent: false)
      try store.file.compact()
      let compacted = try store.file.lastScrub()
      try store.file.scrub()
      store.file.scrubbing.stop()
      #expect(try store.file.lastScrub() != compacted)
    }
  }

  @Test(
    "A scrub waits for that of another process, and runs only if that one didn't complete",
    arguments: [true, false])
  func itWaitsForAnotherOne(completesIt: Bool) throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      var claim = file.environment.claimScrub()
      #expect(claim != nil)
      let steps = LockedSteps()
      file.scrubbing.begin(file, isUrgent: true, waiting: 5) { steps.append($0) }
      Thread.sleep(forTimeInterval: 0.05)
      #expect(steps.all == [])
      let other = ScrubRecord(completed: Date(timeIntervalSinceNow: -1))
      if completesIt { try file.setScrubRecord(other) }
      claim = nil
      file.scrubbing.waitForEnd()
      #expect(steps.all.isEmpty == completesIt)
      #expect((try file.completedScrub() == other.completed) == completesIt)
    }
  }

  @Test("An explicit scrub makes a pending background scrub unnecessary")
  func oneThatIsAskedForIsEnough() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      let steps = LockedSteps()
      file.scrubbing.begin(file, isUrgent: false) { steps.append($0) }
      try file.scrub()
      let asked = try file.completedScrub()
      file.scrubbing.waitForEnd()
      #expect(try file.completedScrub() == asked && steps.all.isEmpty)
    }
  }

  @Test("Closing a store stops its scrub, and the next one continues from there")
  func closingKeepsWhereItIs() throws {
    let folder = try TemporaryFolder()
    var opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
    opening.scrubInterval = nil
    var file = try StoreEngine.open(opening)
    let draft = Draft(file)
    for number in 0..<5000 { try draft.insert("Tag", ["name": .string("tag \(number)")]) }
    try draft.commit()
    let completed = try file.completedScrub()
    let isUnderWay = DispatchSemaphore(value: 0)
    file.scrubbing.begin(file, isUrgent: true) { [file] step in
      guard step.done > 3 else { return }
      isUnderWay.signal()
      // Each part takes longer than the interval between two pauses.
      repeat { Thread.sleep(forTimeInterval: 0.02) } while !file.hasEnded
    }
    isUnderWay.wait()
    file.close()
    file = try StoreEngine.open(opening)
    defer { file.close() }
    let record = try #require(try file.storedScrubRecord())
    #expect(record.completed == completed && record.begun != nil && record.hasReadPages)
    #expect(record.databases.count >= 3)
    let steps = LockedSteps()
    try StoreScrub(file, .atOnce, { steps.append($0) }, pause: { _ in false }).run(anew: false)
    #expect(try file.completedScrub() != completed)
    #expect(record.databases.count < (steps.all.last?.total ?? 0) - 1)
    try TemporaryStore.check(path: folder.path("a.arbor"))
  }
}
