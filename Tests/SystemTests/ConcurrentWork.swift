import ArborData
import Dispatch
import Foundation
import Testing

@testable import crash_writer

/// The work of sixteen tasks on one store, each with a bounded number of rounds.
///
/// | tasks | context | work |
/// |---|---|---|
/// | 0–3 | a new one per round | `perform`; the IDs are handed to the desks |
/// | 4–5 | the first desk | move money between accounts, retrying after conflicts |
/// | 6 | the second desk | the same, observed |
/// | 7 | the second desk | follows fetched results |
/// | 8–9 | the background context | `performBackground`: entries, deletions, labels |
/// | 10 | the background context | `performBackgroundAndWait` on a separate thread |
/// | 11 | a manager's | undo, redo, `commitInBackground` |
/// | 12–13 | none, the desks' | follow the store's commits and look up the inserted objects |
/// | 14 | the desks' | `withSnapshot` |
/// | 15 | a new one per round | sums that are zero after every commit |
///
/// Meanwhile another process adds entries. It and tasks 0 to 6 increment one shared counter.
struct ConcurrentWork: Sendable {
  static let rounds = 24
  /// The number of rounds of a task per increment of the shared counter.
  static let roundsPerCount = 4
  static let foreignEntries = 120

  let store: PersistentStore
  let accounts: [ObjectID]
  let desks: [ContextDesk]
  let manager: ManagerDesk

  init(_ store: PersistentStore) throws {
    self.store = store
    let context = store.makeContext()
    accounts = try context.fetch(Account.self, sortedBy: ["accountNumber"]).map(\.objectID)
    desks = ["first", "second"].map { ContextDesk(store, name: $0) }
    manager = ManagerDesk(store)
  }

  // MARK: Expected results

  static let performers = 0...3
  static let movers = 4...6
  static let labellers = 8...9

  /// The number of increments of the shared counter by these tasks.
  static var counts: Int {
    (performers.count + movers.count) * (rounds / roundsPerCount)
  }
  static var transfers: Int { 2 * movers.count * rounds }
  /// The number of entries that remain, including those of the other process.
  static var entries: Int {
    (performers.count + labellers.count + 1 + 2) * rounds + transfers + foreignEntries
  }
  /// The number of entries that are inserted and deleted again.
  static var passing: Int { labellers.count * rounds / 2 }

  /// The labels that remain on accounts. Each task toggles pairs of its own, some of them twice.
  static var labels: [Int: Set<String>] {
    var labels: [Int: Set<String>] = [:]
    for task in labellers {
      for round in 1...rounds {
        let (account, label) = pair(task, round)
        labels[account, default: []].formSymmetricDifference([label])
      }
    }
    return labels.filter { !$0.value.isEmpty }
  }

  private static func pair(_ task: Int, _ round: Int) -> (account: Int, label: String) {
    (1 + round % 5, "label \(1 + task % 2)")
  }

  static func note(of task: Int) -> String { "task \(task)" }

  // MARK: The tasks

  /// - Parameter changes: The store's commits since before the first task started.
  func run(
    _ task: Int, _ changes: some AsyncSequence<CommittedChanges, Never> & Sendable
  ) async throws {
    switch task {
    case Self.performers: try await perform(task)
    case 4, 5: try await transfer(task, at: desks[0])
    case 6: try await transfer(task, at: desks[1])
    case 7: try await desks[1].followTransfers(until: Self.transfers)
    case Self.labellers: try await label(task)
    case 10: try await wait(task)
    case 11:
      for round in 1...Self.rounds {
        try await manager.work(Self.note(of: task), round, account(task, round))
      }
    case 12, 13: try await follow(changes, at: desks[task % 2])
    case 14:
      for round in 1...Self.rounds { try await desks[round % 2].compareCounts() }
    default: try await sum()
    }
  }

  /// Returns whether a task waits for the results of other tasks.
  static func follows(_ task: Int) -> Bool { task == 7 || task == 12 || task == 13 }

  private func perform(_ task: Int) async throws {
    for round in 1...Self.rounds {
      let id = try await again {
        try await store.perform { context in
          let id = try Self.add(Self.note(of: task), round, to: account(task, round), in: context)
          if round.isMultiple(of: Self.roundsPerCount) { try Self.countUp(in: context) }
          return id
        }
      }
      let found = try await desks[task % 2].round(of: id)
      #expect(found == round)
    }
  }

  /// Repeats an operation until it succeeds without a conflict.
  private func again<R: Sendable>(_ body: () async throws -> R) async throws -> R {
    var result: R?
    while result == nil {
      do { result = try await body() } catch let error as ArborError
        where error.code == .conflict
      {}
    }
    return try #require(result)
  }

  private func transfer(_ task: Int, at desk: ContextDesk) async throws {
    for round in 1...Self.rounds {
      let source = account(task, round)
      let target = account(task, round + 1)
      let move: @Sendable (ManagedObjectContext) throws -> Void = { context in
        for (id, amount) in [(source, -round), (target, round)] {
          let made = try Self.add(Self.note(of: task), round, to: id, in: context)
          let entry = try #require(try context.object(with: made) as? Entry)
          entry.amount = amount
          entry.account?.balance += amount
        }
        if round.isMultiple(of: Self.roundsPerCount) { try Self.countUp(in: context) }
      }
      if task == 6 {
        try await desk.changeObserved(source, move)
      } else {
        try await desk.change(move)
      }
    }
  }

  private func label(_ task: Int) async throws {
    var passing: ObjectID?
    for round in 1...Self.rounds {
      passing = try await store.performBackground { [passing] context in
        try Self.add(Self.note(of: task), round, to: account(task, round), in: context)
        let (number, name) = Self.pair(task, round)
        let label = try #require(try context.fetchOne(Label.self, matching: "name == \(name)"))
        let id = accounts[number - 1]
        let account = try #require(try context.existingObject(with: id) as? Account)
        if account.labels.contains(label) {
          account.labels.remove(label)
        } else {
          account.labels.insert(label)
        }
        if let passing {
          context.delete(try context.existingObject(with: passing))
          return nil
        }
        return try Self.add("passing", round, to: accounts[0], in: context)
      }
    }
    #expect(passing == nil)
  }

  /// Uses the blocking variant, which is for threads that may block.
  private func wait(_ task: Int) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async {
        done.resume(
          with: Result {
            for round in 1...Self.rounds {
              try store.performBackgroundAndWait { context in
                _ = try Self.add(Self.note(of: task), round, to: account(task, round), in: context)
              }
            }
          })
      }
    }
  }

  /// Expects to receive every commit once and in order, and looks up the inserted objects at a
  /// desk.
  private func follow(
    _ changes: some AsyncSequence<CommittedChanges, Never>, at desk: ContextDesk
  ) async throws {
    var (last, inserted, found) = (UInt64?.none, Set<ObjectID>(), 0)
    for await change in changes {
      #expect(change.isComplete && change.commitSequence == (last ?? change.commitSequence - 1) + 1)
      last = change.commitSequence
      for id in change.inserted {
        #expect(inserted.insert(id).inserted)
        if try await desk.round(of: id) != nil { found += 1 }
      }
      if inserted.count == Self.entries + Self.passing { break }
    }
    #expect(inserted.count - found <= Self.passing)
  }

  /// Checks the sums that are zero after every commit.
  private func sum() async throws {
    for _ in 1...Self.rounds {
      let sums = try await store.perform { context in
        try context.withSnapshot {
          let balances = try context.aggregate(FetchRequest<Account>(), [.sum("balance")])
          let amounts = try context.fetch(Entry.self).reduce(0) { $0 + $1.amount }
          return balances + [.integer(Int64(amounts))]
        }
      }
      #expect(sums == [0, 0])
    }
  }

  private func account(_ task: Int, _ round: Int) -> ObjectID {
    accounts[(task * 5 + round * 7) % accounts.count]
  }

  // MARK: Steps

  /// Inserts an entry for an account.
  @discardableResult
  static func add(
    _ note: String, _ round: Int, to account: ObjectID, in context: ManagedObjectContext
  ) throws -> ObjectID {
    let entry = context.insert(Entry.self)
    entry.entryID = try context.store.uniqueIDs.next()
    entry.round = round
    entry.note = note
    entry.account = try context.existingObject(with: account) as? Account
    return entry.objectID
  }

  private static func countUp(in context: ManagedObjectContext) throws {
    try #require(try context.fetchOne(Ledger.self)).round += 1
  }
}
