package import ArborModel

/// The store as it was when the snapshot was taken, for one thread at a time.
///
/// A snapshot keeps every page alive that was freed since: hold it for one operation and close it.
package final class StoreSnapshot {
  package let store: StoreFile
  /// The sequence of the newest commit it shows.
  package let sequence: UInt64

  init(store: StoreFile, sequence: UInt64) {
    self.store = store
    self.sequence = sequence
  }

  /// A verified copy of an object's record in the newest layout, in the allocator's slab; nil where
  /// there is no such object.
  package func record(
    _ number: ObjectNumber, allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? { throw .closed }

  /// Whether there is such an object.
  package func exists(_ number: ObjectNumber) throws(StoreError) -> Bool { throw .closed }

  /// The members of a to-many relationship: in their order where it is ordered, else ascending.
  package func members(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> [ObjectNumber] { throw .closed }

  package func memberCount(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Int { throw .closed }

  package func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Bool { throw .closed }

  /// The commits after a sequence, up to this snapshot's own.
  package func history(after sequence: UInt64) throws(StoreError) -> HistoryReading {
    throw .closed
  }

  /// Ends the snapshot. Nothing happens the second time.
  package func close() {}
}
