import ArborLocks
import Foundation
import Testing

@testable import LMDB

/// A map that starts tiny and has to grow transparently.
@Suite struct EnvironmentGrowthTests {
  private let folder: TemporaryFolder
  private let smallest = 1 << 16

  init() throws { folder = try TemporaryFolder() }

  /// Stores `count` records of 1,000 bytes, each equal to `mark`.
  private static func fill(
    _ environment: Environment, _ database: Database, count: Int, mark: UInt8
  ) throws {
    let value = [UInt8](repeating: mark, count: 1000)
    try environment.write { transaction in
      for key in 0..<count {
        try transaction.put(database, UInt64(key).nativeBytes, value)
      }
    }
  }

  @Test("The closure is rerun in a larger map")
  func runsTheClosureAgainInALargerMap() throws {
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    var runs = 0
    try environment.write { transaction in
      runs += 1
      for key in 0..<2000 {
        try transaction.put(database, UInt64(key).nativeBytes, [UInt8](repeating: 1, count: 1000))
      }
    }
    #expect(runs > 1)
    #expect(try environment.statistics(of: database).entries == 2000)
    #expect(try environment.info().mapSize > 2_000_000)
  }

  @Test("The map grows even if the closure replaces the error that reported the full map")
  func growsEvenIfTheClosureHidesTheError() throws {
    struct Wrapped: Error {}
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { transaction in
      do {
        try transaction.put(
          database, [0, 0, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 1, count: 90_000))
      } catch {
        throw Wrapped()
      }
    }
    try environment.write { transaction in
      _ = try? transaction.put(
        database, [1, 0, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 1, count: 900_000))
    }
    #expect(try environment.statistics(of: database).entries == 2)
  }

  @Test("While the map grows, each snapshot held by other threads shows exactly one commit")
  func drainsReadersOfOtherThreads() throws {
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try Self.fill(environment, database, count: 20, mark: 0)
    let progress = Progress()
    let readers = DispatchGroup()
    for _ in 0..<3 {
      readers.enter()
      Thread {
        while !progress.isDone.load(ordering: .acquiring) {
          do {
            let marks = try Self.slowMarks(environment, database)
            if marks.count != 1 { progress.failures.withLock { $0.append("\(marks)") } }
          } catch {
            progress.failures.withLock { $0.append("\(error)") }
          }
          progress.snapshots.add(1, ordering: .relaxed)
        }
        readers.leave()
      }.start()
    }
    while progress.snapshots.load(ordering: .relaxed) < 3 { usleep(100) }
    defer {
      progress.isDone.store(true, ordering: .releasing)
      readers.wait()
      #expect(progress.failures.withLock { $0 } == [])
    }
    for mark in UInt8(1)...40 {
      try Self.fill(environment, database, count: 20 + Int(mark) * 60, mark: mark)
    }
    #expect(try environment.info().mapSize >= 1 << 21)
  }

  /// State shared by the threads of a test.
  private final class Progress: Sendable {
    let isDone = Atomic(false)
    let failures = Lock<[String]>([])
    let snapshots = Atomic(0)
  }

  /// Returns the distinct bytes of one snapshot, read so slowly that growth has to wait.
  private static func slowMarks(
    _ environment: Environment, _ database: Database
  ) throws -> Set<UInt8> {
    let transaction = try environment.beginRead()
    let cursor = try transaction.cursor(database)
    var marks = Set<UInt8>()
    while let entry = try cursor.next() {
      marks.insert(entry.value[0])
      marks.insert(entry.value[999])
      if entry.integerKey % 200 == 0 { usleep(100) }
    }
    return marks
  }

  @Test("Growth fails if the writing thread holds a snapshot")
  func refusesToWaitForItsOwnThread() throws {
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try Self.fill(environment, database, count: 10, mark: 1)
    do {
      let pinned = try environment.beginRead()
      #expect(throws: LMDBError.growthBlocked) {
        try Self.fill(environment, database, count: 500, mark: 2)
      }
      let value = try pinned.bytes(database, UInt64(3).nativeBytes)
      #expect(value == [UInt8](repeating: 1, count: 1000))
    }
    try Self.fill(environment, database, count: 500, mark: 2)
    #expect(try environment.statistics(of: database).entries == 500)
  }

  /// Growth fails rather than waiting for a thread that holds a snapshot and waits for the writer.
  @Test("Growth fails rather than wait for a thread that waits for the writer")
  func refusesToWaitForAThreadThatWaitsForIt() throws {
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    let hasSnapshot = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
    let thread = Thread {
      do {
        let pinned = try environment.beginRead()
        environment.whileWaiting {
          hasSnapshot.signal()
          mayEnd.wait()
        }
        _ = pinned.id
      } catch {
        Issue.record(error)
      }
      hasEnded.signal()
    }
    thread.start()
    hasSnapshot.wait()
    #expect(throws: LMDBError.growthBlocked) {
      try Self.fill(environment, database, count: 500, mark: 2)
    }
    mayEnd.signal()
    hasEnded.wait()
    try Self.fill(environment, database, count: 500, mark: 2)
    #expect(try environment.statistics(of: database).entries == 500)
  }

  @Test("Growth fails if a reader outlasts the wait limit")
  func losesPatienceWithAReaderThatStays() throws {
    let environment = try folder.environment(mapSize: smallest) { $0.growthWaitLimit = 0.05 }
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    let hasSnapshot = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
    let thread = Thread {
      do {
        let pinned = try environment.beginRead()
        hasSnapshot.signal()
        mayEnd.wait()
        _ = pinned.id
      } catch {
        Issue.record(error)
      }
      hasEnded.signal()
    }
    thread.start()
    hasSnapshot.wait()
    #expect(throws: LMDBError.growthBlocked) {
      try Self.fill(environment, database, count: 500, mark: 2)
    }
    mayEnd.signal()
    hasEnded.wait()
    #expect(try environment.statistics(of: database).entries == 0)
  }

  @Test("A full map at the size limit is an error, after which smaller writes still work")
  func stopsAtTheLimitAndGoesOn() throws {
    let environment = try folder.environment(mapSize: smallest) { $0.maximumMapSize = 1 << 18 }
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try Self.fill(environment, database, count: 20, mark: 1)
    #expect(throws: LMDBError.mapFull) {
      try Self.fill(environment, database, count: 2000, mark: 2)
    }
    #expect(try environment.info().mapSize == 1 << 18)
    let value = try environment.value(database, UInt64(0).nativeBytes)
    #expect(value == [UInt8](repeating: 1, count: 1000))
    try environment.write { try $0.put(database, UInt64(0).nativeBytes, [5]) }
    #expect(try environment.value(database, UInt64(0).nativeBytes) == [5])
  }

  @Test("The first map is no larger than the limit", arguments: [0, 1 << 16, 1 << 30])
  func firstMap(initial: Int) throws {
    let limit = 3 << 16
    let environment = try folder.environment(mapSize: initial) { $0.maximumMapSize = limit + 5000 }
    #expect(try environment.info().mapSize <= limit)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    #expect(throws: LMDBError.mapFull) {
      try Self.fill(environment, database, count: 2000, mark: 1)
    }
    #expect(try environment.info().mapSize == limit)
    let (path, size) = (environment.path, try environment.file.size)
    #expect(size <= limit)
    try environment.close()
    // A file larger than the maximum map size is mapped completely.
    var options = EnvironmentOptions()
    options.maximumMapSize = 1 << 16
    let again = try Environment.open(path: path, options: options)
    #expect(try again.info().mapSize >= size)
  }

  @Test("Readers and the writer continue after another process has grown the file beyond the map")
  func adoptsTheSizeThatAnotherProcessGave() async throws {
    let environment = try folder.environment(mapSize: smallest)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try Self.fill(environment, database, count: 5, mark: 1)
    for (round, writesFirst) in [false, true].enumerated() {
      let count = 1000 * (round + 1)
      await #expect(processExitsWith: .exitCode(7)) {
        [path = environment.path as String, count = count as Int] in
        var options = EnvironmentOptions()
        options.initialMapSize = 1 << 16
        let other = try Environment.open(path: path, options: options)
        let database = try other.openDatabase("it", .integerKey, create: false)
        try Self.fill(other, #require(database), count: count, mark: 3)
        exit(7)
      }
      if writesFirst {
        try environment.write { try $0.put(database, UInt64(1).nativeBytes, [9]) }
        #expect(try environment.value(database, UInt64(1).nativeBytes) == [9])
      }
      let value = try environment.value(database, UInt64(count - 1).nativeBytes)
      #expect(value == [UInt8](repeating: 3, count: 1000))
      #expect(try environment.statistics(of: database).entries == count)
    }
  }
}
