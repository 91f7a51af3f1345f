internal import CLMDB

/// A snapshot: the state of the file as of one commit, unaffected by later ones.
///
/// What it returns points into the map and is valid until the snapshot ends. It serves one thread
/// at a time and may move between threads. While it lives, pages that later commits free are not
/// reused and the file grows: end it soon.
package struct ReadTransaction: ~Copyable, ReadableTransaction {
  let environment: Environment
  let slot: SlotReference

  @inline(__always)
  init(environment: Environment, slot: SlotReference) {
    self.environment = environment
    self.slot = slot
  }

  deinit { environment.endRead(slot) }

  /// A copyable view for functions that read; valid until this snapshot ends.
  package var reader: TransactionReader { TransactionReader(slot: slot) }
}

/// What both kinds of transactions can do: read.
package protocol ReadableTransaction: ~Copyable {
  /// A copyable view of the transaction; valid until it ends.
  var reader: TransactionReader { get }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The transaction whose commit this sees; for a writer the one it is going to be.
  @inlinable
  package var id: UInt64 { reader.id }
}
