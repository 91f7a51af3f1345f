import ArborLocks
import Foundation
import Testing
import LMDB

/// Verification during concurrent commits, which never reports a sound file as damaged.
@Suite struct EnvironmentVerificationTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
  }

  /// Commits continuously while `body` runs and returns the number of commits.
  private func whileCommitting(
    _ environment: Environment, _ database: Database, _ body: () throws -> Void
  ) throws -> Int {
    let isDone = Atomic(false)
    let commits = Atomic(0)
    let failure = Lock<(any Error)?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var random = SeededGenerator(seed: 7)
      do {
        while !isDone.load(ordering: .relaxed) {
          try environment.write { transaction in
            for _ in 0..<20 {
              let key = UInt64(random.below(3000)).nativeBytes
              if random.below(3) == 0 {
                _ = try transaction.delete(database, key)
              } else {
                try transaction.put(database, key, random.bytes(0...3000))
              }
            }
          }
          commits.add(1, ordering: .relaxed)
        }
      } catch {
        failure.withLock { $0 = error }
      }
      ended.signal()
    }
    defer {
      isDone.store(true, ordering: .relaxed)
      ended.wait()
    }
    while commits.load(ordering: .relaxed) < 20 { usleep(1000) }
    try body()
    if let failure = failure.withLock({ $0 }) { throw failure }
    return commits.load(ordering: .relaxed)
  }

  @Test("Verification during commits reports no damage in a sound file")
  func whoeverCommitsCausesNoFinding() throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    let commits = try whileCommitting(environment, database) {
      for _ in 0..<60 {
        try environment.verifyPages(expecting: ["it": .integerKey])
        try Environment.verifyPages(path: path)
      }
    }
    #expect(commits > 20)
    try environment.close()
  }

  private func isQuietLeaf(_ page: Int, _ file: Data) -> Bool {
    let start = page * 4096
    return file[start + 10] == 2 && file[start + 3996..<start + 4096].allSatisfy { $0 == 1 }
  }

  @Test("Damage is found while other threads commit")
  func damageIsFoundWhileOthersCommit() throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    let quiet = try #require(try environment.openDatabase("quiet", .integerKey, create: true))
    try environment.write { transaction in
      for key in 0..<300 {
        try transaction.put(quiet, UInt64(key).nativeBytes, [UInt8](repeating: 1, count: 100))
      }
    }
    // A leaf of the other database, which the commits below don't move.
    let statistics = try environment.statistics(of: quiet)
    #expect(statistics.leafPages > 1)
    let whole = try Data(contentsOf: URL(filePath: path))
    let page = try #require((2..<whole.count / 4096).first { isQuietLeaf($0, whole) })
    _ = try whileCommitting(environment, database) {
      let handle = try FileHandle(forUpdating: URL(filePath: path))
      try handle.seek(toOffset: UInt64(page * 4096))
      try handle.write(contentsOf: [0xEE])
      try handle.close()
      #expect(throws: LMDBError.self) { try environment.verifyPages() }
    }
    try environment.close()
  }

  @Test("Opening with verification reports damage")
  func openingCanVerifyFirst() throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", [], create: true))
    try environment.write { transaction in
      for key in UInt8(1)...100 {
        try transaction.put(database, [key], [UInt8](repeating: key, count: 200))
      }
    }
    // Already open because of a snapshot.
    try folder.environment { $0.verifiesPages = true }.verifyPages()
    try environment.close()
    try folder.environment { $0.verifiesPages = true }.close()
    var data = try Data(contentsOf: URL(filePath: path))
    let last = data.count / 4096 - 1
    for page in 2...last { data[page * 4096 + 12] ^= 1 }
    try data.write(to: URL(filePath: path))
    do {
      _ = try folder.environment { $0.verifiesPages = true }
      Issue.record("a damaged file was opened")
    } catch LMDBError.damaged(let finding) {
      #expect(finding.page != nil && finding.description.contains("bounds"))
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == data)
  }
}
