import ArborData

/// Gives the ledger an index of each kind, which takes a while where it is large.
enum LedgerIndexes {
  static let indexes = [
    FetchIndexDescription(name: "byAmount", elements: [.init("amount"), .init("round")]),
    FetchIndexDescription(name: "byNote", elements: [.init("note", kind: .folded)]),
    FetchIndexDescription(
      name: "large", elements: [.init("amount")], partialIndexPredicate: "amount > 100"),
    FetchIndexDescription(name: "noteWords", elements: [.init("note", kind: .text)]),
  ]

  /// Opens the ledger with its model and these indexes.
  static func open(_ path: String) throws -> PersistentStore {
    try LedgerFile.open(path) { model in
      for place in model.entities.indices where model.entities[place].name == "Entry" {
        model.entities[place].fetchIndexes = indexes
      }
    }
  }
}
