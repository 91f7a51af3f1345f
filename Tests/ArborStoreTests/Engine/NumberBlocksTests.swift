import ArborLocks
import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Object numbers, which are handed out once, even if they are never committed.
@Suite struct NumberBlocksTests {
  @Test("Numbers are consecutive and start at one")
  func numbersAreConsecutiveFromOne() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let tag = try Draft(store.file).entity("Tag")
      let company = try Draft(store.file).entity("Company")
      var expected: UInt64 = 1
      for count in [1, 1, 2, 60, 1, 300, 5000, 3] {
        let numbers = try store.file.takeNumbers(count, for: tag)
        #expect(numbers == expected..<(expected + UInt64(count)))
        expected = numbers.upperBound
      }
      #expect(try store.file.takeNumbers(2, for: company) == 1..<3)
      #expect(try store.file.takeUniqueIDs(3) == 1..<4)
      #expect(try store.file.takeUniqueIDs(1) == 4..<5)
    }
  }

  @Test("Reservations are rare because blocks of numbers grow with demand")
  func bulkNeedsFewReservations() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let tag = try Draft(store.file).entity("Tag")
      let before = try store.file.environment.lastTransactionID
      for _ in 0..<100_000 { _ = try store.file.takeNumbers(1, for: tag) }
      #expect(try store.file.environment.lastTransactionID - before < 10)
    }
  }

  @Test("Regular commits reserve numbers along the way, without further transactions")
  func commitsTopUpBlocks() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      try draft.insert("Tag", ["name": "first"])
      try draft.commit()
      let before = try store.file.environment.lastTransactionID
      for round in 0..<500 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
      }
      #expect(try store.file.environment.lastTransactionID - before == 500)
    }
  }

  @Test("No object number or unique ID is handed out twice, even after a purge or reopening")
  func nothingIsGivenOutTwice() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var taken = Set<UInt64>()
      var unique = Set<Int64>()
      for round in 0..<6 {
        let draft = Draft(store.file)
        let tag = try draft.entity("Tag")
        for _ in 0..<20 {
          for number in try store.file.takeNumbers(3, for: tag) {
            #expect(taken.insert(number).inserted)
          }
          for id in try store.file.takeUniqueIDs(7) { #expect(unique.insert(id).inserted) }
        }
        // Numbers that were taken but not committed don't reappear after a purge or after
        // reopening.
        if round % 2 == 0 { try store.file.purge() }
        try store.reopen()
      }
    }
  }

  @Test("Concurrent threads never receive the same number")
  func threadsShareNoNumber() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let file = store.file
      let entity = try Draft(file).entity("Tag")
      let taken = Lock<[UInt64]>([])
      let group = DispatchGroup()
      for _ in 0..<6 {
        group.enter()
        Thread {
          var mine: [UInt64] = []
          for round in 0..<2000 {
            let count = round % 3 + 1
            if let numbers = try? file.takeNumbers(count, for: entity) { mine += numbers }
          }
          taken.withLock { $0 += mine }
          group.leave()
        }.start()
      }
      group.wait()
      let all = taken.withLock { $0 }
      #expect(all.count == 6 * 3999)
      #expect(Set(all).count == all.count)
    }
  }

  @Test("Numbers are handed out up to the last one")
  func theLastNumbersAreGivenOut() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let file = store.file
      let tag = try Draft(file).entity("Tag")
      let arbor = file.databases.arbor
      let last = ObjectNumber.maximumSequence
      try Vandal(file: file).write { transaction, _ in
        try StoreCounter.write(
          StoreFormat.objectCounter(tag.number), last - 3, arbor, transaction)
        try StoreCounter.write(
          StoreFormat.uniqueIDCounter, UInt64(Int64.max) - 2, arbor, transaction)
      }
      #expect(try file.takeNumbers(2, for: tag) == (last - 3)..<(last - 1))
      #expect(throws: StoreError.self) { try file.takeNumbers(2, for: tag) }
      #expect(try file.takeNumbers(1, for: tag) == (last - 1)..<last)
      #expect(throws: StoreError.self) { try file.takeNumbers(1, for: tag) }
      #expect(try file.takeUniqueIDs(2) == (.max - 2)..<(.max))
      #expect(throws: StoreError.self) { try file.takeUniqueIDs(1) }
    }
  }

  @Test(
    "A forged counter is reported by the check and when numbers are taken",
    arguments: [1 << 48, 1 << 63, .max - 1, .max] as [UInt64])
  func aForgedCounterIsAnError(counter: UInt64) throws {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    let tag = try Draft(file).entity("Tag")
    try Vandal(file: file).write { transaction, _ in
      for name in [StoreFormat.objectCounter(tag.number), StoreFormat.uniqueIDCounter] {
        try StoreCounter.write(name, counter, file.databases.arbor, transaction)
      }
    }
    let found = try file.check().problems
    #expect(found.map(\.kind) == Array(repeating: .counter, count: counter > 1 << 62 ? 2 : 1))
    #expect(found.contains { $0.description.contains("\(counter)") })
    #expect(throws: StoreError.self) { try file.takeNumbers(1, for: tag) }
    if counter > 1 << 62 {
      #expect(throws: StoreError.self) { try file.takeUniqueIDs(1) }
    }
  }

  @Test("Taking numbers throws once an entity has used all of them")
  func exhaustionIsAnError() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let tag = try Draft(store.file).entity("Tag")
      try Vandal(file: store.file).write { transaction, _ in
        try StoreCounter.write(
          StoreFormat.objectCounter(tag.number), ObjectNumber.maximumSequence,
          store.file.databases.arbor, transaction)
      }
      do {
        _ = try store.file.takeNumbers(5, for: tag)
        Issue.record("Numbers were left.")
      } catch StoreError.exhausted(let message) {
        #expect(message == "Tag has used all 2^40 object numbers. Create a new store.")
      }
    }
  }

  // MARK: Shared logs

  /// A log whose counters start at a given number.
  private final class CountingLog: SharedLog {
    private let next: Lock<UInt64>

    init(from first: UInt64) { next = Lock(first) }

    func append(_ group: LoggedGroup) -> Appending { .written }
    func groups(after sequence: UInt64) -> [LoggedGroup] { [] }
    func noteTakenOver(_ count: Int) {}

    func reserve(_ counter: String, _ count: UInt64, from least: UInt64) -> Range<UInt64> {
      next.withLock { next in
        defer { next += count }
        return next..<next + count
      }
    }
  }

  private func share(_ file: StoreEngine, countingFrom first: UInt64) throws {
    let chain = CommitChain(store: file.id, sequence: file.lastSequence)
    try file.setPosition(
      SharedPosition(
        sequence: file.lastSequence, generation: file.modelGeneration, chain: chain))
    try file.share(through: CountingLog(from: first))
  }

  @Test("The numbers of a log are handed out up to the last one")
  func theLastNumbersOfALogAreGivenOut() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let (file, last) = (store.file, ObjectNumber.maximumSequence)
      let tag = try Draft(file).entity("Tag")
      try share(file, countingFrom: last - 3)
      defer { file.endSharing() }
      #expect(try file.takeNumbers(2, for: tag) == (last - 3)..<(last - 1))
      #expect(try file.takeNumbers(1, for: tag) == (last - 1)..<last)
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) { try file.takeNumbers(1, for: tag) }
        guard case .exhausted(let message)? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(message == "Tag has used all 2^40 object numbers. Create a new store.")
      }
    }
  }

  @Test("A log that would assign numbers again is rejected as corrupted")
  func numbersOfALogThatMayBeGivenOutAreRefused() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      let tag = try Draft(file).entity("Tag")
      let numbers = try file.takeNumbers(5, for: tag)
      try share(file, countingFrom: 0)
      defer { file.endSharing() }
      let snapshot = try file.snapshot()
      let least = try #require(
        try snapshot.counters()[StoreFormat.objectCounter(tag.number)])
      snapshot.close()
      #expect(least >= numbers.upperBound)
      let error = #expect(throws: StoreError.self) { try file.takeNumbers(Int(least), for: tag) }
      guard case .log(let refusal)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(refusal.code == .corrupted)
      #expect(refusal.message.contains(" instead of "))
    }
  }
}
