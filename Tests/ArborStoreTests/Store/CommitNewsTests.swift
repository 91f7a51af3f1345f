import ArborLocks
import ArborModel
import LMDB
import TestSupport
import Testing

@testable import ArborStore

@Suite struct CommitNewsTests {
  @Test func listenersAreToldOfCommitsUntilTheyGo() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let calls = Calls()
      let news = store.file.news
      let listener = news.listen(to: store.file) { calls.add() }
      let draft = Draft(store.file)
      for round in 1...3 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
        #expect(calls.count == round)
      }
      // Numbers are reserved in a transaction that commits nothing.
      let tags = try draft.entity("Tag")
      for _ in 0..<3 { _ = try store.file.takeNumbers(100_000, for: tags) }
      news.announce(store.file)
      store.file.lookForCommits()
      #expect(calls.count == 3, "there was nothing new")
      try store.file.purge()
      #expect(calls.count == 4)
      news.remove(listener)
      try draft.insert("Tag", ["name": "last"])
      try draft.commit()
      #expect(calls.count == 4)
    }
  }

  @Test func whoBeginsToListenTakesNoNewsFromOthers() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (calls, later) = (Calls(), Calls())
      let news = store.file.news
      let first = news.listen(to: store.file) { calls.add() }
      // A commit that is known, as of another process by a read, before it is announced.
      let known = store.file.lastSequence + 1
      store.file.note(sequence: known, transactionID: .max)
      let second = news.listen(to: store.file) { later.add() }
      news.announce(store.file)
      #expect(calls.count == 1 && later.count <= 1)
      news.announce(store.file)
      #expect(calls.count == 1)
      news.remove(first)
      news.remove(second)
    }
  }

  @Test func commitsOfTheProcessAreItsOwn() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for round in 1...3 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
      }
      #expect((0...4).map(store.file.news.isOwn) == [false, true, true, true, false])
      let sequences = store.file.lastSequence + 1..<store.file.lastSequence + 2
      store.file.news.willWrite(sequences)
      store.file.news.didNotWrite(sequences)
      #expect((3...4).map(store.file.news.isOwn) == [true, false])
    }
  }

  @Test func ownCommitsAreKeptAsLongAsTheHistory() {
    var own = OwnCommits()
    own.add(1..<2)
    own.add(2..<4)
    // The same transaction once more, since the map had to grow.
    own.add(2..<4)
    #expect(own.ranges == [1..<4])
    own.add(6..<8)
    own.remove(6..<8)
    #expect(own.ranges == [1..<4])
    own.add(4..<6)
    own.remove(4..<6)
    #expect(own.ranges == [1..<4])
    own.remove(1..<4)
    #expect(own.ranges == [])
    // Every second commit is another process's.
    for sequence in stride(from: UInt64(1), to: 5000, by: 2) { own.add(sequence..<sequence + 1) }
    #expect(own.ranges.count == Int(StoreFormat.longestHistory / 2) + 1)
    #expect(own.contains(4999) && !own.contains(4998) && own.contains(3937) && !own.contains(3935))
  }

  @Test func entriesComeOneByOne() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      func commit(until last: UInt64) throws {
        while store.file.lastSequence < last {
          draft.changes.metadata = [("round", [1])]
          try draft.commit()
        }
      }
      try commit(until: 1023)
      #expect(try firstEntry(of: store.file) == 1)
      try commit(until: 1024)
      #expect(try firstEntry(of: store.file) == 25)
      try commit(until: 1087)
      #expect(try firstEntry(of: store.file) == 25)
      #expect(try store.file.check().isSound)
      try commit(until: 1088)
      #expect(try firstEntry(of: store.file) == 89)
      let snapshot = try store.file.quietSnapshot()
      defer { snapshot.close() }
      #expect(try snapshot.nextEntry(after: 0) == .tooOld(1088))
      #expect(try snapshot.nextEntry(after: 87) == .tooOld(1088))
      #expect(try snapshot.nextEntry(after: 1088) == .none)
      guard case .entry(let entry) = try snapshot.nextEntry(after: 88) else {
        throw DraftError("history")
      }
      #expect(entry.sequence == 89 && entry.changes == [] && tag.sequence == 1)
    }
  }

  private func firstEntry(of file: StoreFile) throws -> UInt64? {
    let snapshot = try file.quietSnapshot()
    defer { snapshot.close() }
    return try snapshot.reader.cursor(file.databases.history).first()?.integerKey
  }
}

/// Counts calls from anywhere.
private final class Calls: Sendable {
  private let made = Lock(0)
  var count: Int { made.withLock { $0 } }
  func add() { made.withLock { $0 += 1 } }
}
