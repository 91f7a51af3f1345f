package import ArborModel

extension StoreEngine {
  /// The public identity of an object of this store.
  package func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: id, entityName: schema.entity(of: number)?.name ?? "", number: number.sequence)
  }

  /// The key of the object that an ID names.
  ///
  /// - Throws: `foreignObject` for an ID of another store or of an entity that this one does not
  ///   have.
  package func objectNumber(_ id: ObjectID) throws(StoreError) -> ObjectNumber {
    guard id.storeID == self.id else {
      throw .foreignObject("\(id) is of another store; ask the store it belongs to.")
    }
    guard let entity = schema.entity(named: id.entityName), !entity.isAbstract else {
      throw .foreignObject("\(id) names an entity that this store's model does not have.")
    }
    return ObjectNumber(entity: entity.number, sequence: id.number)
  }
}
