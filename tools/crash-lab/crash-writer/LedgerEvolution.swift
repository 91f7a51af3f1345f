import ArborData

/// Brings the ledger to a model in which its entries have another name and an attribute more.
enum LedgerEvolution {
  /// Makes the next version of a ledger's model.
  private static func evolve(_ model: inout ManagedObjectModel) {
    for place in model.entities.indices {
      if model.entities[place].name == "Entry" {
        model.entities[place].name = "Posting"
        model.entities[place].renamingIdentifier = "Entry"
        model.entities[place].className = nil
        model.entities[place].attributes.append(
          AttributeDescription(name: "rank", type: .integer32, defaultValue: 7))
      }
      for index in model.entities[place].relationships.indices
      where model.entities[place].relationships[index].destination == "Entry" {
        model.entities[place].relationships[index].destination = "Posting"
      }
    }
  }

  /// Opens the ledger with the next version of its model.
  static func open(_ path: String) throws -> PersistentStore {
    try LedgerFile.open(path, changing: evolve)
  }
}
