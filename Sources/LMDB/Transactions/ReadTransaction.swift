internal import CLMDB

/// An MVCC snapshot: the state of the file as of one commit, unaffected by later ones.
///
/// Results point into the map and are valid until the snapshot ends. It must be used by one thread
/// at a time and may move between threads. While it exists, pages that later commits free are not
/// reused and the file grows, so end it soon.
package struct ReadTransaction: ~Copyable, ReadableTransaction {
  let environment: Environment
  let slot: SlotReference

  @inline(__always)
  init(environment: Environment, slot: SlotReference) {
    self.environment = environment
    self.slot = slot
  }

  deinit { environment.endRead(slot) }

  /// A copyable view for functions that read. Valid until this snapshot ends.
  package var reader: TransactionReader { TransactionReader(slot: slot) }
}

/// The common interface of both kinds of transactions: reading.
package protocol ReadableTransaction: ~Copyable {
  /// A copyable view of the transaction. Valid until it ends.
  var reader: TransactionReader { get }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The number of the transaction whose commit this sees or, for a writer, of its own transaction.
  package var id: UInt64 { reader.id }
}
