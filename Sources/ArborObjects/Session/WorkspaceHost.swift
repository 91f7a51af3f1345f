internal import ArborModel
internal import ArborStore
internal import Foundation

/// The live objects above a workspace: what makes them, and what their hooks are called by.
protocol WorkspaceHost: AnyObject {
  /// The shape of the entity that a number is of; nil for a number of none.
  func shape(of number: ObjectNumber) -> EntityShape?

  /// Makes and registers an object that is not registered.
  ///
  /// - Throws: `corrupted` for a number of no entity, which only a forged file holds.
  func makeObject(_ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?)
    throws(StoreError) -> TrackedObject

  /// The objects that a relationship leads to in their order, those that are not registered read
  /// together. Never fails; the workspace remembers the error.
  func objects(_ numbers: [ObjectNumber], of link: LinkSource) -> [TrackedObject]

  /// An object's record has been read from the store.
  func didLoad(_ object: TrackedObject)

  /// Reads the records of faults whose values were known before the commits up to a snapshot. Never
  /// fails: an object that can't be read stays a fault, whose next read reports the error.
  func reload(_ numbers: [ObjectNumber], on snapshot: StoreSnapshot)

  /// All objects that were reloaded are in place.
  func didReload()

  /// An object is about to be deleted, its relationships still in place.
  func willDelete(_ object: TrackedObject)

  /// A binary that is not in the store: not yet, or not any more.
  func unstoredBlob(_ name: BlobName) -> Data?

  /// Why an object cannot be read: it is not in the store.
  func missing(_ object: TrackedObject) -> StoreError
}

/// One object's relationship, which leads to others.
struct LinkSource {
  let owner: ObjectNumber
  let relation: Relation

  init(owner: ObjectNumber, relation: Relation) {
    self.owner = owner
    self.relation = relation
  }
}
