import Foundation

/// The ledger in SQLite, with the same indexes and an FTS5 table for the words.
struct SQLiteLedger {
  private let database: SQLiteConnection

  init(path: String) throws {
    database = try SQLiteConnection(path: path)
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS account(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      CREATE TABLE IF NOT EXISTS entry(
        id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, date DOUBLE, month TEXT NOT NULL,
        payee TEXT NOT NULL, memo TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS posting(
        id INTEGER PRIMARY KEY, cents INTEGER NOT NULL, accountID INTEGER REFERENCES account(id),
        entryID INTEGER REFERENCES entry(id));
      CREATE INDEX IF NOT EXISTS entry_date ON entry(date);
      CREATE INDEX IF NOT EXISTS posting_account ON posting(accountID);
      CREATE INDEX IF NOT EXISTS posting_entry ON posting(entryID);
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        payee, memo, content='entry', content_rowid='id', tokenize='unicode61');
      CREATE TRIGGER IF NOT EXISTS entry_insert AFTER INSERT ON entry BEGIN
        INSERT INTO words(rowid, payee, memo) VALUES(new.id, new.payee, new.memo); END;
      """)
  }

  func load(_ data: LedgerData) throws {
    let account = try database.prepare("INSERT INTO account(id, name) VALUES(?, ?)")
    let entry = try database.prepare("INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?)")
    let posting = try database.prepare(
      "INSERT INTO posting(cents, accountID, entryID) VALUES(?, ?, ?)")
    try database.execute("BEGIN")
    for (index, name) in LedgerData.accounts.enumerated() {
      account.bind(Int64(index + 1), name)
      try account.run()
    }
    for row in data.transactions {
      entry.bind(row.number, row.number, row.date, row.month, row.payee, row.memo)
      try entry.run()
      for (account, cents) in [(row.from, -row.cents), (row.to, row.cents)] {
        posting.bind(cents, Int64(account + 1), row.number)
        try posting.run()
      }
    }
    try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func sums() throws -> (Int, UInt64) {
    let query = try database.prepare(
      """
      SELECT e.month, a.name, sum(p.cents) FROM posting p
      JOIN entry e ON e.id = p.entryID JOIN account a ON a.id = p.accountID
      WHERE e.date >= ? GROUP BY e.month, a.name
      """)
    query.bind(LedgerData.firstDate)
    var (count, checksum) = (0, UInt64(0))
    while try query.step() {
      count += 1
      checksum &+= UInt64(bitPattern: query.integer(2) &* 31)
    }
    return (count, checksum)
  }

  func search(_ words: String) throws -> Int {
    let query = try database.prepare(
      "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20")
    query.bind(words)
    var count = 0
    while try query.step() { count += 1 }
    return count
  }
}
