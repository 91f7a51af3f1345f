import ArborData
import Foundation

/// Brings the ledger to a model in which its entries have another name and an attribute more, which
/// takes a while where there are many.
enum LedgerEvolution {
  /// The next version of a ledger's model.
  static func next(_ model: ManagedObjectModel) -> ManagedObjectModel {
    var model = model
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
    return model
  }

  /// The model of the ledger at a path.
  static func model(_ path: String) throws -> ManagedObjectModel {
    let store = try PersistentStore(
      at: .file(URL(filePath: path)), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    return store.model
  }

  /// Opens the ledger with the next version of its model.
  static func open(_ path: String) throws -> PersistentStore {
    try PersistentStore(model: next(model(path)), at: .file(URL(filePath: path)))
  }
}
