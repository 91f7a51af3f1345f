import ArborData
import ArborLocks
import Foundation
import Observation
import Testing

@testable import crash_writer

/// A long-lived context shared by tasks, which use it one at a time.
actor ContextDesk {
  private let context: ManagedObjectContext

  init(_ store: PersistentStore, name: String) {
    context = store.makeContext()
    context.name = name
    context.isObservable = true
  }

  /// Applies a change and commits it, repeating both after a conflict.
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

  /// Changes an account like ``change(_:)`` and expects that its observers are notified.
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

  /// Returns the round of an entry that another context inserted, or `nil` if it no longer exists.
  ///
  /// - Throws: An error if the entry's account doesn't link back to it.
  func round(of id: ObjectID) throws -> Int? {
    guard let entry = try context.objects(with: [id]).first as? Entry else { return nil }
    let account = try #require(entry.account)
    let (round, isLinked) = (entry.round, account.entries.contains(entry))
    // Relationships are read in their current state, so another context may have deleted the entry.
    if !isLinked { #expect(try context.objects(with: [id]).isEmpty) }
    return round
  }

  /// Counts the same entries in two ways on one snapshot while other contexts commit.
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

  /// Merges concurrent commits.
  func look() throws { _ = try context.count(Ledger.self) }

  /// Follows the entries that move money, change by change, until there are `count` of them.
  func followTransfers(until count: Int) async throws {
    let results = try context.fetchedResults(
      FetchRequest<Entry>(predicate: "amount != 0", sortKeys: ["entryID"]))
    var (objects, changes) = (Array(results.objects), results.changes.makeAsyncIterator())
    // All of them may already exist when this task first runs.
    while objects.count < count, let difference = await changes.next(isolation: self) {
      objects = difference.isComplete ? difference.applied(to: objects) : Array(results.objects)
      let ids = objects.map(\.entryID)
      #expect(ids == ids.sorted())
    }
    #expect(objects == Array(results.objects))
  }
}

/// A data manager that is isolated to this actor, like its context.
actor ManagerDesk {
  private let manager: DataManager

  init(_ store: PersistentStore) { manager = DataManager(store: store) }

  /// Inserts one entry here, undoing and redoing it once, and one in the background.
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
    // The awaited commit is visible here without a fetch that would merge it.
    #expect(!manager.context.hasChanges)
    #expect(
      try manager.count(Entry.self, matching: "note == \(note) AND round == \(-round)") == 1)
  }
}
