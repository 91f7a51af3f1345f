import ArborData
import Foundation

/// The ledger in ArborData.
struct LedgerStore {
  private let store: PersistentStore

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Account", userInfo: ["PrimaryAttribute": "name"]) {
        AttributeDescription("name", .string, .default(""), .unique)
        RelationshipDescription("postings", to: "Posting", inverse: "account", .toMany)
      }
      EntityDescription("Transaction", userInfo: ["PrimaryAttribute": "number"]) {
        AttributeDescription("number", .integer64, .default(0), .unique)
        AttributeDescription("date", .date, .optional, .indexed)
        AttributeDescription("month", .string, .default(""))
        AttributeDescription("payee", .string, .default(""))
        AttributeDescription("memo", .string, .default(""))
        RelationshipDescription("postings", to: "Posting", inverse: "transaction", .toMany)
        FetchIndexDescription(text: "payee", "memo", name: "words")
      }
      EntityDescription("Posting") {
        AttributeDescription("cents", .integer64, .default(0))
        RelationshipDescription(
          "account", to: "Account", inverse: "postings",
          .userInfo(["ImportReference": "{account}"]))
        RelationshipDescription("transaction", to: "Transaction", inverse: "postings")
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

  /// Imports the transactions of a JSON document with their postings, in one commit.
  func importTransactions(from data: Data) throws {
    let context = store.makeContext()
    for name in LedgerData.accounts {
      let account = try context.insert("Account")
      account["name"] = name
    }
    try context.importObjects(from: .data(data), as: "Transaction")
    try context.commit()
  }

  /// Computes the sums by month and account. Returns their number and a checksum.
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
