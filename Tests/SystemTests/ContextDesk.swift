import ArborData
import ArborLocks
import Foundation
import Observation
import Testing

@testable import crash_writer

/// A long-lived context that tasks share: what they want of it they ask here, one at a time.
actor ContextDesk {
  private let context: ManagedObjectContext

  init(_ store: PersistentStore, name: String) {
    context = store.makeContext()
    context.name = name
    context.isObservable = true
  }

  /// Changes something and commits it; does it again where others were there first.
  func change(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    repeat { try body(context) } while try !commits()
  }

  private func commits() throws -> Bool {
    do {
      try context.commit()
      return true
    } catch  where error.code == .conflict {
      context.rollback()
      return false
    }
  }

  /// Changes an account as ``change(_:)`` does, which whoever has read it is told of.
  func changeObserved(
    _ account: ObjectID, _ body: @Sendable (ManagedObjectContext) throws -> Void
  ) throws {
    let account = try #require(try context.existingObject(with: account) as? Account)
    let isTold = Atomic(false)
    withObservationTracking {
      _ = account.balance
    } onChange: {
      isTold.store(true, ordering: .relaxed)
    }
    try change(body)
    let hasTold = isTold.load(ordering: .relaxed)
    #expect(hasTold)
  }

  /// The round of an entry that another context made; nil where it is no more.
  ///
  /// - Throws: Where the entry's account does not lead back to it.
  func round(of id: ObjectID) throws -> Int? {
    guard let entry = try context.objects(with: [id]).first as? Entry else { return nil }
    let account = try #require(entry.account)
    let (round, isLinked) = (entry.round, account.entries.contains(entry))
    // A relationship is read as it is by now: somebody may have deleted the entry meanwhile.
    if !isLinked { #expect(try context.objects(with: [id]).isEmpty) }
    return round
  }

  /// Counts the same in two ways on one view of the store, while others commit.
  func compareCounts() throws {
    try context.withSnapshot {
      let all = try context.count(Entry.self)
      var ofAccounts = 0
      for account in try context.fetch(Account.self) {
        ofAccounts += try context.count(Entry.self, matching: "account == \(account)")
      }
      #expect(all == ofAccounts)
    }
  }

  /// Takes in concurrent commits.
  func look() throws { _ = try context.count(Ledger.self) }

  /// Follows the entries that move money until there are so many, step by step.
  func followTransfers(until count: Int) async throws {
    let results = try context.fetchedResults(
      FetchRequest<Entry>(predicate: "amount != 0", sortKeys: ["entryID"]))
    var (objects, changes) = (results.objects, results.changes.makeAsyncIterator())
    // All of them may be there before this task has its turn.
    while objects.count < count, let difference = await changes.next(isolation: self) {
      objects = difference.isComplete ? difference.applied(to: objects) : results.objects
      let ids = objects.map(\.entryID)
      #expect(ids == ids.sorted())
    }
    #expect(objects == results.objects)
  }
}

/// A manager, which belongs to this actor as its context does.
actor ManagerDesk {
  private let manager: DataManager

  init(_ store: PersistentStore) { manager = DataManager(store: store) }

  /// Makes one entry here, taking it back once and bringing it again, and one in the background.
  func work(_ note: String, _ round: Int, _ account: ObjectID) async throws {
    let (store, here) = (manager.store, "note == \(note) AND round == \(round)" as FetchPredicate)
    manager.beginUndoGroup()
    try ConcurrentWork.add(note, round, to: account, in: manager.context)
    manager.endUndoGroup()
    #expect(try manager.count(Entry.self, matching: here) == 1)
    manager.undo()
    #expect(try manager.count(Entry.self, matching: here) == 0)
    manager.redo()
    #expect(try manager.count(Entry.self, matching: here) == 1)
    try manager.commit()
    try await manager.commitInBackground { context in
      #expect(context.store === store)
      try ConcurrentWork.add(note, -round, to: account, in: context)
    }
    // What this awaited is here without a fetch that would take it in.
    #expect(!manager.context.hasChanges)
    #expect(
      try manager.count(Entry.self, matching: "note == \(note) AND round == \(-round)") == 1)
  }
}
