import ArborData

extension LedgerState {
  /// Reads the ledger from a store; `nil` if it doesn't contain one yet.
  ///
  /// - Throws: ``LedgerDefect`` if records, indexes, relationships or counters contradict each
  ///   other.
  init?(reading store: PersistentStore) throws {
    let context = store.makeContext()
    let ledgers = try context.fetch(FetchRequest<Ledger>())
    let accounts = try context.fetch(FetchRequest<Account>())
    let entries = try context.fetch(FetchRequest<Entry>())
    guard let ledger = ledgers.first else {
      guard accounts.isEmpty, entries.isEmpty else {
        throw LedgerDefect("accounts or entries without a ledger")
      }
      return nil
    }
    guard ledgers.count == 1, accounts.count == Self.accountCount else {
      throw LedgerDefect("\(ledgers.count) ledgers, \(accounts.count) accounts")
    }
    guard Set(entries.map(\.entryID)).count == entries.count else {
      throw LedgerDefect("an entry's ID stands twice")
    }
    var labels: [Int: Set<String>] = [:]
    for account in accounts {
      let number = account.accountNumber
      guard account.balance == account.entries.reduce(0, { $0 + $1.amount }) else {
        throw LedgerDefect("account \(number): its balance is not the sum of its entries")
      }
      guard
        try context.count(FetchRequest<Entry>(predicate: "account == \(account)"))
          == account.entries.count
      else { throw LedgerDefect("account \(number): entries and their index differ") }
      guard account.labels.allSatisfy({ $0.accounts.contains(account) }) else {
        throw LedgerDefect("account \(number): a label does not lead back to it")
      }
      if !account.labels.isEmpty { labels[number] = Set(account.labels.map(\.name)) }
    }
    let found = try entries.map { entry in
      guard let account = entry.account else { throw LedgerDefect("an entry without account") }
      return Posting(
        round: entry.round, account: account.accountNumber, amount: entry.amount,
        note: entry.note)
    }
    self.init(round: ledger.round, entries: Set(found), labels: labels)
  }
}
