package import ArborModel
package import Foundation

/// The name of an object as a user types it: `Entity/number`, or its ID as `arbor://…`.
package struct ObjectName {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// Returns the ID of the object in a store.
  ///
  /// - Throws: `ArborError` `unknownName` if the text is not the name of an object of this store.
  package func id(in schema: ModelSchema, of store: UUID) throws(ArborError) -> ObjectID {
    if text.hasPrefix("arbor://") {
      guard let id = try? ObjectID(text), id.storeID == store, Self.isNumber(id.number),
        schema.entity(named: id.entityName)?.isAbstract == false
      else { throw unknown("“\(text)” is not the ID of an object of this store.") }
      return id
    }
    let parts = text.split(separator: "/")
    guard parts.count == 2, let number = UInt64(parts[1]), Self.isNumber(number) else {
      throw unknown("“\(text)” is not the name of an object. Write Entity/number.")
    }
    let name = String(parts[0])
    guard let entity = schema.entity(named: name) else {
      throw unknown(
        "The model has no entity \(name)."
          + NearestName.hint(name, in: schema.entities.map(\.name)))
    }
    guard !entity.isAbstract else {
      throw unknown("\(name) is abstract, so there is no object \(text).")
    }
    return ObjectID(storeID: store, entityName: name, number: number)
  }

  private static func isNumber(_ number: UInt64) -> Bool { number <= ObjectID.maximumNumber }

  private func unknown(_ message: String) -> ArborError { ArborError(.unknownName, message) }
}
