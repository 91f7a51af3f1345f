import ArborLocks
import ArborModel
import LMDB
import TestSupport
import Testing

@testable import ArborStore

@Suite struct CommitNotificationsTests {
  @Test("Listeners are notified of each commit until they are removed")
  func listenersAreToldOfCommitsUntilTheyGo() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let calls = Calls()
      let notifications = store.file.notifications
      let listener = notifications.listen(to: store.file) { calls.add() }
      let draft = Draft(store.file)
      for round in 1...3 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
        #expect(calls.count == round)
      }
      // Reserving numbers is a transaction, but not a commit.
      let tags = try draft.entity("Tag")
      for _ in 0..<3 { _ = try store.file.takeNumbers(100_000, for: tags) }
      notifications.announce(store.file)
      store.file.lookForCommits()
      #expect(calls.count == 3, "there was nothing new")
      try store.file.purge()
      #expect(calls.count == 4)
      notifications.remove(listener)
      try draft.insert("Tag", ["name": "last"])
      try draft.commit()
      #expect(calls.count == 4)
    }
  }

  @Test("Adding a listener doesn't consume a notification that others await")
  func whoBeginsToListenTakesNoNewsFromOthers() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (calls, later) = (Calls(), Calls())
      let notifications = store.file.notifications
      let first = notifications.listen(to: store.file) { calls.add() }
      // A commit that is known before it is announced, such as one of another process found by a
      // read.
      let snapshot = try store.file.snapshot()
      var header = try StoreHeader.read(snapshot.reader)
      snapshot.close()
      header.sequence += 1
      store.file.note(header, nil, transactionID: .max)
      let second = notifications.listen(to: store.file) { later.add() }
      notifications.announce(store.file)
      #expect(calls.count == 1 && later.count <= 1)
      notifications.announce(store.file)
      #expect(calls.count == 1)
      notifications.remove(first)
      notifications.remove(second)
    }
  }

  @Test("The commits of this process are distinguished from those of others")
  func commitsOfTheProcessAreItsOwn() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for round in 1...3 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
      }
      #expect((0...4).map(store.file.notifications.isOwn) == [false, true, true, true, false])
      let sequences = store.file.lastSequence + 1..<store.file.lastSequence + 2
      store.file.notifications.willWrite(sequences)
      store.file.notifications.didNotWrite(sequences)
      #expect((3...4).map(store.file.notifications.isOwn) == [true, false])
    }
  }

  @Test("The record of own commits is trimmed to the length of the history")
  func ownCommitsAreKeptAsLongAsTheHistory() {
    var own = OwnCommits()
    own.add(1..<2)
    own.add(2..<4)
    // The same transaction again, because the map had to grow.
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
    // Every second commit is by another process.
    for sequence in stride(from: UInt64(1), to: 5000, by: 2) { own.add(sequence..<sequence + 1) }
    let oldest = (5000 - StoreFormat.maximumHistoryLength) | 1
    #expect(own.ranges.count == Int(4999 - oldest) / 2 + 1)
    #expect(
      own.contains(4999) && !own.contains(4998) && own.contains(oldest) && !own.contains(oldest - 2)
    )
  }
}

/// A thread-safe counter of calls.
private final class Calls: Sendable {
  private let made = Lock(0)
  var count: Int { made.withLock { $0 } }
  func add() { made.withLock { $0 += 1 } }
}
