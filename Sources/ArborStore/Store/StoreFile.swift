package import ArborModel
package import Foundation

/// One opened store file: its schema, its databases, its writer.
///
/// All threads share one; each reads through snapshots of its own.
package final class StoreFile: Sendable {
  package let id: UUID
  package let schema: ModelSchema
  /// The canonical path; nil for a store in memory.
  package let path: String?
  package let isReadOnly: Bool

  init(id: UUID, schema: ModelSchema, path: String?, isReadOnly: Bool) {
    self.id = id
    self.schema = schema
    self.path = path
    self.isReadOnly = isReadOnly
  }

  /// Opens a store, or makes one where there is none.
  package static func open(_ opening: StoreOpening) throws(StoreError) -> StoreFile {
    throw .closed
  }

  /// A view of the store as of now; close it soon.
  package func snapshot() throws(StoreError) -> StoreSnapshot { throw .closed }

  /// Writes a change set, whole or not at all; blocks until it is durable.
  package func commit(_ changes: borrowing ChangeSet) throws(StoreError) -> CommitReceipt {
    throw .closed
  }

  /// Sequences for new objects of an entity: never given out before, consecutive within one call.
  package func takeNumbers(
    _ count: Int, for entity: EntitySchema
  ) throws(StoreError) -> Range<UInt64> { throw .closed }

  /// Numbers for the application: never given out before, in ascending order.
  package func takeUniqueIDs(_ count: Int) throws(StoreError) -> Range<Int64> { throw .closed }

  /// The sequence of the newest commit that this process knows.
  package var lastSequence: UInt64 { 0 }

  /// Looks whether other processes have committed; returns the newest sequence.
  package func refreshSequence() throws(StoreError) -> UInt64 { throw .closed }

  /// Application metadata.
  package func metadata(_ key: String) throws(StoreError) -> [UInt8]? { throw .closed }

  /// Removes all objects in one transaction. Numbers and unique IDs go on counting.
  package func purge() throws(StoreError) { throw .closed }

  /// Ends this use of the file; the last one closes it.
  package func close() {}

  /// Closes the store and removes its files. `inUse` where something else has it open.
  package func destroy() throws(StoreError) { throw .closed }

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
