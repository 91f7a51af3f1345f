import ArborData
import Foundation

/// A writer of ledger rounds that acknowledges each commit.
struct LedgerWriter {
  let store: PersistentStore
  private let context: ManagedObjectContext
  private let acknowledge: (String) -> Void

  /// Opens the ledger at a path, or creates one with its accounts and labels.
  ///
  /// - Parameter acknowledge: Receives a line for every commit once it is durable, and one for the
  ///   unique IDs drawn before it.
  init(path: String, acknowledge: @escaping (String) -> Void) throws {
    try self.init(Self.open(path), acknowledge: acknowledge)
  }

  /// Creates a writer for an open store.
  init(_ store: PersistentStore, acknowledge: @escaping (String) -> Void) throws {
    self.store = store
    context = store.makeContext()
    self.acknowledge = acknowledge
    if try context.fetchOne(FetchRequest<Ledger>()) == nil {
      _ = context.insert(Ledger.self)
      for number in 1...LedgerState.accountCount {
        context.insert(Account.self).accountNumber = number
      }
      for number in 1...LedgerState.labelCount {
        context.insert(Label.self).name = "label \(number)"
      }
      try context.commit()
    }
    try acknowledge("round \(round)")
  }

  static func open(_ path: String) throws -> PersistentStore {
    try PersistentStore(
      for: LedgerClasses.all, at: .file(URL(filePath: path)), options: LedgerJournal.options)
  }

  /// The number of the last round in the store.
  var round: Int {
    get throws { try context.fetchOne(FetchRequest<Ledger>())?.round ?? 0 }
  }

  /// Commits the rounds that follow the last one.
  func write(rounds: Int, seed: UInt64) throws {
    for number in try (round + 1)...(round + rounds) {
      try perform(LedgerState.round(number, seed: seed))
      try context.commit()
      acknowledge("round \(number)")
    }
  }

  private func perform(_ round: LedgerState.Round) throws {
    try context.fetchOne(FetchRequest<Ledger>())?.round = round.number
    if let undone = round.undone {
      for entry in try context.fetch(FetchRequest<Entry>(predicate: "round == \(undone)")) {
        entry.account?.balance -= entry.amount
        context.delete(entry)
      }
    }
    if let replaced = round.replaced {
      context.delete(try account(replaced))
      context.insert(Account.self).accountNumber = replaced
    }
    let ids = try store.uniqueIDs.next(3)
    acknowledge("taken " + ids.map(String.init).joined(separator: " "))
    let sides = [(round.source, -round.amount), (round.target, round.amount)]
    for (id, (number, amount)) in zip(ids, sides) {
      let account = try account(number)
      let entry = context.insert(Entry.self)
      entry.entryID = id
      entry.round = round.number
      entry.amount = amount
      entry.note = round.note
      entry.account = account
      account.balance += amount
    }
    guard
      let label = try context.fetchOne(FetchRequest<Label>(predicate: "name == \(round.label)"))
    else { throw LedgerDefect("\(round.label) is missing") }
    let source = try account(round.source)
    if source.labels.contains(label) {
      source.labels.remove(label)
    } else {
      source.labels.insert(label)
    }
  }

  private func account(_ number: Int) throws -> Account {
    let request = FetchRequest<Account>(predicate: "accountNumber == \(number)")
    guard let account = try context.fetchOne(request) else {
      throw LedgerDefect("account \(number) is missing")
    }
    return account
  }

  /// Deletes every entry, in one commit.
  func empty() throws {
    for entry in try context.fetch(FetchRequest<Entry>()) {
      entry.account?.balance -= entry.amount
      context.delete(entry)
    }
    try context.commit()
    acknowledge("emptied")
  }

  /// Commits `count` entries that carry this writer's number. Every tenth also changes the shared
  /// counter. Another process may do the same at the same time; if both changed the counter, the
  /// later one merges the new state and repeats its change.
  ///
  /// - Parameter isResumed: Whether to continue after the entries that carry this writer's number
  ///   instead of starting with the first one.
  func append(writer: Int, count: Int, isResumed: Bool = false) throws {
    let before =
      isResumed ? try context.count(FetchRequest<Entry>(predicate: "amount == \(writer)")) : 0
    for number in (before + 1)...(before + count) {
      while try !appendOnce(writer: writer, number: number) {}
      acknowledge("appended \(number)")
    }
  }

  /// Commits one entry; returns `false` if another process changed the counter in the meantime.
  private func appendOnce(writer: Int, number: Int) throws -> Bool {
    let entry = context.insert(Entry.self)
    entry.entryID = try store.uniqueIDs.next()
    entry.round = number
    entry.amount = writer
    entry.account = try account(1 + number % LedgerState.accountCount)
    if number.isMultiple(of: 10) {
      try context.fetchOne(FetchRequest<Ledger>())?.round += 1
    }
    do {
      try context.commit()
      return true
    } catch  where error.code == .conflict {
      context.rollback()
      return false
    }
  }
}

/// An inconsistency in a ledger.
struct LedgerDefect: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
