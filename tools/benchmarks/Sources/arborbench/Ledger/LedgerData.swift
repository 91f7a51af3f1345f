import Foundation

/// A double-entry ledger: the transactions of a few years, each with two postings.
struct LedgerData {
  struct Transaction {
    let number: Int64
    /// Seconds since 2001-01-01 UTC.
    let date: Double
    /// The year and month, such as `2023-07`.
    let month: String
    let payee: String
    let memo: String
    /// The amount in cents, and the accounts it is transferred from and to.
    let cents: Int64
    let from: Int
    let to: Int
  }

  static let accounts = (0..<60).map { String(format: "Account %02d", $0) }
  /// The start of the measured grouping, which includes about two fifths of the transactions.
  static let firstDate = 694_224_000.0
  static let firstMonth = "2023-01"

  private static let words = [
    "rent", "coffee", "train", "ticket", "salary", "insurance", "groceries", "garden", "repair",
    "book", "gift", "heating", "water", "phone", "internet", "doctor", "school", "lunch", "hotel",
    "fuel", "bread", "concert", "cinema", "shoes", "winter", "holiday", "refund", "invoice",
    "donation", "bicycle",
  ]

  let transactions: [Transaction]

  init(count: Int) {
    var state: UInt64 = 46
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    transactions = (0..<count).map { index in
      let days = 7_305 + index * 1_826 / count
      let date = Double(days) * 86_400 + Double(next(86_400))
      let memo = (0..<8).map { _ in Self.words[next(Self.words.count)] }.joined(separator: " ")
      return Transaction(
        number: Int64(index + 1), date: date, month: Self.month(ofDay: days),
        payee: "Payee \(next(900)) \(Self.words[next(Self.words.count)])", memo: memo,
        cents: Int64(next(500_000) + 1), from: next(30), to: 30 + next(30))
    }
  }

  /// Returns the transactions as a JSON list, each with its postings.
  func document() -> Data {
    var text = "["
    for row in transactions {
      let date = Date(timeIntervalSinceReferenceDate: row.date).formatted(.iso8601)
      text += row.number == 1 ? "\n" : ",\n"
      text += #"{"number": \#(row.number), "date": "\#(date)", "month": "\#(row.month)", "#
      text += #""payee": "\#(row.payee)", "memo": "\#(row.memo)", "postings": ["#
      text += #"{"cents": \#(-row.cents), "account": "\#(Self.accounts[row.from])"}, "#
      text += #"{"cents": \#(row.cents), "account": "\#(Self.accounts[row.to])"}]}"#
    }
    return Data((text + "\n]\n").utf8)
  }

  /// Returns the month of a day after 2001-01-01, by the Gregorian calendar.
  private static func month(ofDay day: Int) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
    let parts = calendar.dateComponents([.year, .month], from: date)
    return String(format: "%04d-%02d", parts.year ?? 0, parts.month ?? 0)
  }
}
