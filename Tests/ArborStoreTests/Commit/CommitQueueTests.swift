import ArborLocks
import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Commits of many threads, which share transactions and get individual results.
@Suite struct CommitQueueTests {
  /// Runs `body` concurrently on `count` threads.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread {
        body(number)
        group.leave()
      }.start()
    }
    group.wait()
  }

  @Test(
    "Concurrent commits are all stored, except those that violate uniqueness",
    arguments: [false, true])
  func nothingIsLost(inMemory: Bool) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: inMemory) { store in
      let file = store.file
      let receipts = Lock<[UInt64: ObjectNumber]>([:])
      let refused = Lock(0)
      onThreads(8) { thread in
        let draft = Draft(file)
        for round in 0..<25 {
          do {
            // Every fifth commit claims a value that is taken. It is rejected without affecting
            // others.
            let id = Int64(round % 5 == 4 ? -1 : thread * 1000 + round)
            let number = try draft.insert("Employee", ["employeeID": .integer(id)])
            let receipt = try draft.commit()
            receipts.withLock { $0[receipt.sequence] = number }
          } catch StoreError.notUnique {
            refused.withLock { $0 += 1 }
          } catch {
            Issue.record(error)
          }
        }
      }
      let committed = receipts.withLock { $0 }
      let misses = refused.withLock { $0 }
      // One of the claims of -1 succeeded.
      #expect(misses == 39)
      #expect(committed.count == 161)
      #expect(file.lastSequence == 161)
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      guard case .entries(let entries) = try snapshot.history(after: 0) else {
        throw DraftError("history")
      }
      #expect(entries.map(\.sequence) == Array(1...161))
      for entry in entries {
        #expect(entry.changes.map(\.number) == [committed[entry.sequence]])
      }
    }
  }

  @Test("Commits that wait for the writer share a transaction")
  func waitingCommitsShareATransaction() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let file = store.file
      let taken = try file.takeNumbers(100, for: Draft(file).entity("Tag")).lowerBound
      let before = try file.environment.lastTransactionID
      // While this thread writes, the others can only queue.
      try file.environment.write { transaction in
        let header = try StoreHeader.read(transaction.reader)
        let group = DispatchGroup()
        for thread in 0..<6 {
          group.enter()
          Thread {
            let draft = Draft(file)
            do {
              try draft.insert(
                "Tag", ["name": "x"],
                number: ObjectNumber(
                  entity: try draft.entity("Tag").number, sequence: taken + UInt64(thread)))
              group.leave()
              try draft.commit()
            } catch {
              Issue.record(error)
            }
          }.start()
        }
        group.wait()
        Thread.sleep(forTimeInterval: 0.2)
        var mine = header
        mine.transactionID = transaction.id
        try StoreHeader.write(mine, in: transaction)
      }
      while file.lastSequence < 6 { Thread.sleep(forTimeInterval: 0.01) }
      // One transaction of this thread, and one or two for the six others.
      #expect(try file.environment.lastTransactionID - before <= 3)
    }
  }

  @Test("Concurrent commits succeed while the map grows")
  func growthOfTheMapIsNotSeen() throws {
    try TemporaryStore.use(
      OfficeModel.make(), opening: { $0.initialMapSize = 1 << 20 }
    ) { store in
      let file = store.file
      let long = PropertyValue.string(String(repeating: "long text ", count: 2000))
      let before = try file.environment.info().mapSize
      onThreads(4) { thread in
        let draft = Draft(file)
        for _ in 0..<20 {
          do {
            for _ in 0..<5 { try draft.insert("Project", ["title": long]) }
            try draft.commit()
          } catch {
            Issue.record(error)
          }
        }
      }
      #expect(try file.environment.info().mapSize > before)
      #expect(file.lastSequence == 80)
      #expect(try file.check().recordCount == 400)
    }
  }
}
