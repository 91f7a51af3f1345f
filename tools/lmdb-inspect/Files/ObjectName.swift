import ArborModel
import ArborObjects
import ArborStore

/// The name of an object on the command line: `Entity/number`, or its ID as `arbor://…`.
struct ObjectName {
  let text: String

  init(_ text: String) { self.text = text }

  /// Returns the number of the object in a store.
  ///
  /// - Throws: ``InspectError`` if the text is not the name of an object of this store.
  func number(in store: StoreEngine) throws -> ObjectNumber {
    if text.hasPrefix("arbor://") {
      guard let id = try? ObjectID(text), let number = try? store.objectNumber(id) else {
        throw InspectError.notFound("“\(text)” is not the ID of an object of this store.")
      }
      return number
    }
    let parts = text.split(separator: "/")
    guard parts.count == 2, let sequence = UInt64(parts[1]), sequence < 1 << 48 else {
      throw InspectError.notFound("“\(text)” is not the name of an object. Write Entity/number.")
    }
    let name = String(parts[0])
    guard let entity = store.schema.entity(named: name) else {
      throw InspectError.unknownEntity(name, among: store.schema.entities.map(\.name))
    }
    return ObjectNumber(entity: entity.number, sequence: sequence)
  }
}
