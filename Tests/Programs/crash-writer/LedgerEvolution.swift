import ArborData

/// A migration of the ledger to a model in which its entries are renamed and have one more
/// attribute.
enum LedgerEvolution {
  /// Changes the ledger's model to its next version.
  private static func evolve(_ model: inout ManagedObjectModel) {
    for entityIndex in model.entities.indices {
      if model.entities[entityIndex].name == "Entry" {
        model.entities[entityIndex].name = "Posting"
        model.entities[entityIndex].renamingIdentifier = "Entry"
        model.entities[entityIndex].className = nil
        model.entities[entityIndex].attributes.append(
          AttributeDescription(name: "rank", type: .integer32, defaultValue: 7))
      }
      for index in model.entities[entityIndex].relationships.indices
      where model.entities[entityIndex].relationships[index].destination == "Entry" {
        model.entities[entityIndex].relationships[index].destination = "Posting"
      }
    }
  }

  /// Opens the ledger with the next version of its model.
  static func open(_ path: String) throws -> PersistentStore {
    try LedgerFile.open(path, changing: evolve)
  }
}
