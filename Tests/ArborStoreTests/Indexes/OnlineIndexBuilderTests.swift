import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Indexes that are built in batches while objects change, and are correct at every moment.
@Suite struct OnlineIndexBuilderTests {
  private let tasks: UnfinishedTasks

  init() throws { tasks = try UnfinishedTasks() }

  private func names(_ builds: [IndexBuildStatus]) -> [String] { builds.map(\.index) }

  @Test("An index build continues in later batches and after the store is reopened")
  func aBuildGoesOnFromBatchToBatchAndOpeningToOpening() throws {
    try tasks.fill(500)
    let first = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words]))
    #expect(first.modelGeneration == 2)
    #expect(try indexDump(first) == ["i/Item/byRank", "i/Item/words"])
    #expect(try names(first.indexBuilds()) == ["byRank", "words"])
    #expect(try first.indexBuilds().map(\.objectsDone) == [0, 0])
    #expect(try first.check().isSound)
    try tasks.build(first, batches: 2)
    let done = try first.indexBuilds()
    #expect(done[0].objectCount == 500 && (100..<300).contains(done[0].objectsDone), "\(done)")
    first.close()
    try TemporaryStore.check(path: tasks.path)
    // Opening the file without a model also continues the build.
    let second = try tasks.open(nil) { $0.indexBuilds = .beforeOpening }
    #expect(try second.indexBuilds() == [])
    #expect(try indexDump(second) == tasks.expected(second))
    #expect(try indexDump(second).count == 1002)
    #expect(second.lastSequence == 2)
    second.close()
    try TemporaryStore.check(path: tasks.path)
  }

  @Test("The indexes of small entities are built in the transaction of the migration")
  func fewObjectsAreIndexedInTheMigration() throws {
    try tasks.fill(40)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank])) {
      $0.maximumObjectsIndexedAtOnce = 40
    }
    defer { file.close() }
    #expect(try file.indexBuilds() == [])
    #expect(try indexDump(file).count == 41)
  }

  @Test(
    "Indexes are sound after batches, commits, openings and migrations in any order",
    arguments: 0..<8)
  func indexesHoldWhatTheObjectsSay(round: Int) throws {
    let random = SeededRandom()
    var world = IndexWorld(random)
    var steps = SeededRandom(seed: random.seed &+ 1)
    let start = try tasks.open(world.model())
    for _ in 0..<30 { try world.change(start) }
    start.close()
    for _ in 0..<3 {
      let model = try world.model()
      for _ in 0..<3 {
        let store = try tasks.open(model)
        defer { store.close() }
        for _ in 0..<4 {
          switch Int.random(in: 0..<3, using: &steps) {
          case 0: try tasks.build(store, batches: 1, of: Int.random(in: 1...60, using: &steps))
          default: try world.change(store)
          }
          let report = try store.check()
          #expect(report.isSound, "\(report), seed \(random.seed)")
        }
      }
    }
    let end = try tasks.open(nil) { $0.indexBuilds = .beforeOpening }
    defer { end.close() }
    #expect(try world.differences(end) == [], "seed \(random.seed)")
    let report = try end.check()
    #expect(report.isSound, "\(report), seed \(random.seed)")
  }

  /// Indexes include commits made during a build, although a batch may be outdated when written.
  @Test("Commits made during a build are included in the index")
  func commitsBesideTheBuildAreInTheIndex() throws {
    let numbers = try tasks.fill(2000)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.once, tasks.words])) {
      $0.indexBuilds = .inBackground
      $0.largestIndexBatch = 50
    }
    defer { file.close() }
    let random = SeededRandom()
    var draws = random
    let draft = Draft(file)
    for commit in 0..<60 {
      for number in Set((0..<5).compactMap { _ in numbers.randomElement(using: &draws) }) {
        guard try draft.value(number, "rank") != nil else { continue }
        if commit.isMultiple(of: 4) {
          try draft.delete(number)
        } else {
          try draft.update(
            number, ["rank": .integer(99), "name": .string("c\(commit) \(number.rawValue)")])
        }
      }
      try draft.insert("Task", ["name": .string("late \(commit)"), "rank": .integer(-1)])
      try draft.commit()
    }
    file.waitForIndexBuilds()
    #expect(file.indexBuildFailure == nil)
    #expect(try file.indexBuilds() == [])
    #expect(try indexDump(file) == tasks.expected(file), "seed \(random.seed)")
    #expect(try file.check().isSound)
  }

  /// Entries of objects that change after they were gathered are written correctly. If the changes
  /// are unknown, as after a purge, each object is looked up.
  @Test(
    "Changes between the batches of a pass are included in the index", arguments: [false, true])
  func commitsBetweenTheBatchesOfOnePass(purges: Bool) throws {
    var numbers = try tasks.fill(400)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words]))
    defer { file.close() }
    let random = SeededRandom()
    var draws = random
    let draft = Draft(file)
    var batches = 0
    func change() throws {
      batches += 1
      if purges, batches == 4 {
        try file.purge()
        numbers = try (0..<200).map {
          try draft.insert("Task", ["name": .string("p\($0)"), "rank": .integer(Int64($0 % 9))])
        }
        return _ = try draft.commit()
      }
      guard numbers.count > 20 else { return }
      for _ in 0..<3 {
        let number = numbers.remove(at: Int.random(in: 0..<numbers.count, using: &draws))
        switch Int.random(in: 0..<3, using: &draws) {
        case 0: try draft.delete(number)
        case 1: try draft.update(number, ["name": .string("c \(batches)")])
        default: try draft.update(number, ["rank": .integer(.random(in: -1...9, using: &draws))])
        }
      }
      try draft.insert("Event", ["name": .string("late \(batches)"), "rank": 3])
      try draft.commit()
    }
    var failure: (any Error)?
    try OnlineIndexBuilder(file, largestBatch: 40).run(isStopped: {
      do { try change() } catch { failure = error }
      return failure != nil
    })
    if let failure { throw failure }
    #expect(batches > 10)
    #expect(try indexDump(file) == tasks.expected(file), "seed \(random.seed)")
    #expect(try file.check().isSound)
  }

  @Test("A build makes progress and doesn't start over, however many objects change in between")
  func anUnbrokenStreamOfCommitsDoesNotHoldTheBuildUp() throws {
    let numbers = try tasks.fill(400)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words]))
    defer { file.close() }
    let random = SeededRandom()
    var draws = random
    let draft = Draft(file)
    var (batches, failure): (Int, (any Error)?) = (0, nil)
    let builder = OnlineIndexBuilder(file, largestBatch: 40, maximumChanges: 3)
    try builder.run(isStopped: {
      batches += 1
      do {
        for number in numbers.shuffled(using: &draws).prefix(30) {
          try draft.update(
            number,
            ["rank": .integer(.random(in: -9...9, using: &draws)), "name": .string("c \(batches)")])
        }
        try draft.insert("Event", ["name": .string("late \(batches)"), "rank": 3])
        try draft.commit()
      } catch { failure = error }
      return failure != nil || batches > 200
    })
    if let failure { throw failure }
    #expect(builder.passCount == 2 && batches < 60, "\(batches) batches, seed \(random.seed)")
    #expect(try file.indexBuilds() == [])
    #expect(try indexDump(file) == tasks.expected(file), "seed \(random.seed)")
    #expect(try file.check().isSound)
  }

  /// A batch that another builder has already written is discarded.
  @Test("Concurrent builders leave a complete and sound index")
  func twoBuildersDoNotHarmEachOther() async throws {
    try tasks.fill(2000)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words]))
    defer { file.close() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask { try OnlineIndexBuilder(file, largestBatch: 64).run() }
      }
      try await group.waitForAll()
    }
    #expect(try file.indexBuilds() == [])
    #expect(try indexDump(file) == tasks.expected(file))
    #expect(try file.check().isSound)
  }

  @Test("A store can be closed while it builds indexes, which are complete after it is reopened")
  func closingEndsTheBuildInTheBackground() throws {
    try tasks.fill(1000)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words])) {
      $0.indexBuilds = .inBackground
      $0.largestIndexBatch = 20
    }
    file.close()
    try TemporaryStore.check(path: tasks.path)
    let again = try tasks.open(nil) { $0.indexBuilds = .beforeOpening }
    defer { again.close() }
    #expect(try again.indexBuilds() == [])
    #expect(try indexDump(again) == tasks.expected(again))
  }

  // MARK: Reverting and migrating during a build

  @Test("Reverting the model in the middle of a build ends the build", arguments: [false, true])
  func revertingEndsABuild(changes: Bool) throws {
    let numbers = try tasks.fill(300)
    let former = try UnfinishedTasks.model([tasks.byRank])
    try tasks.open(former) { $0.indexBuilds = .beforeOpening }.close()
    let file = try tasks.open(
      UnfinishedTasks.model([
        FetchIndexDescription(name: "byRank", elements: [.init("rank"), .init("name")]), tasks.once,
      ])
    )
    try tasks.build(file, batches: 2)
    if changes {
      try Draft(file).changing { try $0.update(numbers[250], ["name": .string("other")]) }
    }
    file.close()
    #expect(try StoreEngine.revertMigration(at: tasks.path, dropping: []))
    let reverted = try tasks.open(nil)
    defer { reverted.close() }
    #expect(reverted.schema.model == former)
    #expect(try reverted.indexBuilds() == [])
    #expect(try indexDump(reverted) == tasks.expected(reverted))
    #expect(try indexDump(reverted).count == 301)
    #expect(try reverted.check().isSound)
  }

  @Test("A migration continues unfinished index builds of the previous one")
  func theNextMigrationTakesUnfinishedIndexesOver() throws {
    try tasks.fill(400)
    let first = try tasks.open(UnfinishedTasks.model([tasks.byRank]))
    try tasks.build(first, batches: 2)
    let before = try first.indexBuilds()[0].objectsDone
    first.close()
    let renamed = FetchIndexDescription(name: "ranks", elements: [.init("rank")])
    let second = try tasks.open(UnfinishedTasks.model([renamed, tasks.words]))
    let builds = try second.indexBuilds()
    #expect(names(builds) == ["ranks", "words"])
    #expect(builds.map(\.objectsDone) == [before, 0])
    #expect(try second.check().isSound)
    try tasks.build(second)
    #expect(try indexDump(second) == tasks.expected(second))
    second.close()
    try TemporaryStore.check(path: tasks.path)
  }

  @Test("Copies and compacted stores continue index builds")
  func copiesAndCompactedStoresGoOn() throws {
    try tasks.fill(300)
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank, tasks.words]))
    try tasks.build(file, batches: 1)
    let copy = tasks.folder.path("other.arbor")
    try file.copy(to: copy, compacting: true)
    try file.compact()
    #expect(try names(file.indexBuilds()) == ["byRank", "words"])
    try tasks.build(file)
    #expect(try indexDump(file) == tasks.expected(file))
    file.close()
    try TemporaryStore.check(path: tasks.path)
    try TemporaryStore.check(path: copy)
    let other = try StoreEngine.open(StoreOpening(.file(copy), model: nil))
    defer { other.close() }
    #expect(try other.indexBuilds() == [])
    #expect(try indexDump(other) == tasks.expected(other))
  }

  // MARK: Damage

  @Test("An unfinished index may lack entries after its last indexed object, but nothing else")
  func theCheckKnowsWhatAnUnfinishedIndexHasToHold() throws {
    let numbers = try tasks.fill(300).sorted()
    let file = try tasks.open(UnfinishedTasks.model([tasks.byRank]))
    defer { file.close() }
    try tasks.build(file, batches: 1)
    let index = try #require(file.databases.indexes.first).database
    func problems() throws -> [StoreCheckReport.Problem.Kind] {
      try file.check().problems.map(\.kind)
    }
    func key(_ rank: Int64) -> [UInt8] {
      var key = KeyBuffer()
      _ = KeyEncoder.append(.integer(rank), as: .int32, isAscending: true, to: &key)
      return Array(key.bytes)
    }
    let (early, late) = (numbers[0], numbers[299])
    guard case .integer(let rank) = try Draft(file).value(early, "rank") else {
      throw DraftError("rank")
    }
    try Vandal(file: file).write { transaction, _ in
      try key(rank).withUnsafeBytes {
        _ = try transaction.delete(index, key: $0, number: early.rawValue)
      }
    }
    #expect(try problems() == [.missingIndexEntry])
    try Vandal(file: file).write { transaction, _ in
      try key(rank).withUnsafeBytes {
        _ = try transaction.put(index, key: $0, number: early.rawValue, .overwrite)
      }
      try key(1000).withUnsafeBytes {
        _ = try transaction.put(index, key: $0, number: late.rawValue, .overwrite)
      }
    }
    #expect(try problems() == [.strayIndexEntry])
    try Vandal(file: file).write { transaction, _ in
      try key(1000).withUnsafeBytes {
        _ = try transaction.delete(index, key: $0, number: late.rawValue)
      }
    }
    #expect(try problems() == [])
    // The flag and the list must be consistent.
    try Vandal(file: file).write { _, header in header.hasIndexBuilds = false }
    #expect(try problems().contains(.header))
    try Vandal(file: file).write { transaction, header in
      header.hasIndexBuilds = true
      try transaction.put(
        file.databases.arbor, key: Array(StoreFormat.indexBuildsKey.utf8), value: [1, 2, 3])
    }
    #expect(throws: StoreError.self) { try file.snapshot() }
    try Vandal(file: file).write { transaction, header in
      header.hasIndexBuilds = true
      try transaction.put(
        file.databases.arbor, key: Array(StoreFormat.indexBuildsKey.utf8),
        value: IndexBuildList([.init(index: 77)]).encoded())
    }
    #expect(try problems().contains(.header))
  }
}
