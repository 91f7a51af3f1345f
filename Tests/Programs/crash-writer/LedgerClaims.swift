import ArborData

/// Insertions of labels and accounts that other processes insert at the same time.
enum LedgerClaims {
  /// Fetches or inserts each label and adds it to the writer's account, in one commit per label.
  ///
  /// - Parameter acknowledge: Receives a line for every commit once it is durable.
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
