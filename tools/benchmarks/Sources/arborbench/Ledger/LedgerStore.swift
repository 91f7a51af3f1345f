import ArborData
import Foundation

/// The ledger in ArborData.
struct LedgerStore {
  private let store: PersistentStore

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Account") {
        Attribute("name", .string, .default(""), .unique)
        Relationship("postings", to: "Posting", inverse: "account", .toMany)
      }
      Entity("Transaction") {
        Attribute("number", .integer64, .default(0), .unique)
        Attribute("date", .date, .optional, .indexed)
        Attribute("month", .string, .default(""))
        Attribute("payee", .string, .default(""))
        Attribute("memo", .string, .default(""))
        Relationship("postings", to: "Posting", inverse: "transaction", .toMany)
        Index(text: "payee", "memo", name: "words")
      }
      Entity("Posting") {
        Attribute("cents", .integer64, .default(0))
        Relationship("account", to: "Account", inverse: "postings")
        Relationship("transaction", to: "Transaction", inverse: "postings")
      }
    }
  }

  init(path: String) throws {
    store = try PersistentStore(model: Self.model(), at: .path(path))
  }

  func load(_ data: LedgerData) throws {
    let context = store.makeContext()
    let accounts = try LedgerData.accounts.map { name in
      let account = try context.insert("Account")
      account["name"] = name
      return account
    }
    for row in data.transactions {
      let transaction = try context.insert("Transaction")
      transaction["number"] = row.number
      transaction["date"] = Date(timeIntervalSinceReferenceDate: row.date)
      transaction["month"] = row.month
      transaction["payee"] = row.payee
      transaction["memo"] = row.memo
      for (account, cents) in [(row.from, -row.cents), (row.to, row.cents)] {
        let posting = try context.insert("Posting")
        posting["cents"] = cents
        posting["account"] = accounts[account]
        posting["transaction"] = transaction
      }
    }
    try context.commit()
  }

  /// The sums by month and account: their number, and a checksum.
  func sums() throws -> (Int, UInt64) {
    let first = Date(timeIntervalSinceReferenceDate: LedgerData.firstDate)
    var request = FetchRequest<ManagedObject>(
      entity: "Posting", predicate: "transaction.date >= \(first)")
    request.propertiesToGroupBy = ["transaction.month", "account.name"]
    request.propertiesToFetch = [
      "transaction.month AS month", "account.name AS account", "sum(cents) AS cents",
    ]
    let rows = try store.makeContext().fetchRows(request)
    let checksum = rows.reduce(UInt64(0)) { sum, row in
      sum &+ UInt64(bitPattern: (row["cents"]?.int64 ?? 0) &* 31)
    }
    return (rows.count, checksum)
  }

  func search(_ words: String) throws -> Int {
    try store.makeContext().search("Transaction", words, in: "words", limit: 20).count
  }

  func close() { store.close() }
}
