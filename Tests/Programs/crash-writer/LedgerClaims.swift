import ArborData

/// Makes labels and accounts that other processes make at the same time.
enum LedgerClaims {
  /// Fetches each of some labels, else inserts it, and puts it on the writer's account, in a commit
  /// each.
  ///
  /// - Parameter acknowledge: Takes one line for every commit, when it is durable.
  static func run(
    _ path: String, writer: Int, count: Int, acknowledge: (String) -> Void
  ) throws {
    let store = try LedgerWriter.open(path)
    let context = store.makeContext()
    context.mergePolicy = .mergeByPropertyObjectWins
    for number in 1...count {
      let label = try context.insertOrFetch(Label.self, where: ["name": "label \(number)"])
      let account = try context.insertOrFetch(Account.self, where: ["accountNumber": writer])
      account.labels.insert(label)
      try context.commit()
      acknowledge("claimed \(number)")
    }
    store.close()
  }
}
