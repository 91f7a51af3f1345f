internal import ArborModel
internal import Foundation

/// What one commit was, whole: enough to make it again in another copy of the store.
///
/// The records are the ones that were stored, with their checksums; indexes and the databases of
/// derived relationships follow from them and are not in it.
package struct LoggedCommit {
  package let sequence: UInt64
  /// The generation of the model that the records are of.
  package let generation: UInt32
  /// What the history keeps of it, as it lies there.
  let history: [UInt8]
  let set: ChangeSet
  /// Keeps the memory of the records.
  let memory: SlabAllocator
}
