internal import ArborModel
internal import LMDB

/// Keeps the digests of a file's databases beside its header; see ``DatabaseDigests``.
enum StoreDigests {
  private static let key = Array(StoreFormat.digestsKey.utf8)

  /// What a state of the file says of its digests.
  enum Stored {
    /// They are of this state.
    case known(DatabaseDigests)
    /// A library that keeps none has written to the file, or made it.
    case unknown
    /// Their bytes are damaged.
    case damaged
  }

  /// The digests of a state, whose header names a transaction.
  static func read(_ reader: TransactionReader, of transactionID: UInt64) throws(LMDBError)
    -> Stored
  {
    guard let bytes = try reader.get(.unnamed, key: key) else { return .unknown }
    guard let digests = DatabaseDigests(bytes) else { return .damaged }
    return digests.transactionID == transactionID ? .known(digests) : .unknown
  }

  /// Begins with a file without entries, in the transaction that makes it.
  static func begin(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    try write(DatabaseDigests(transactionID: transaction.id), transaction)
  }

  /// Adds what the transaction has changed so far; nothing where the digests are unknown.
  ///
  /// - Parameter former: The transaction that the header named before, where it is not the one
  ///   before this: in a copy, whose transactions count on otherwise.
  static func keep(
    _ transaction: borrowing WriteTransaction, following former: UInt64? = nil
  ) throws(LMDBError) {
    let changes = transaction.takeDigestChanges()
    let id = transaction.id
    // The header may be written twice in a transaction.
    guard let bytes = try transaction.reader.get(.unnamed, key: key),
      var digests = DatabaseDigests(bytes),
      digests.transactionID == former ?? (id - 1) || digests.transactionID == id
    else { return }
    digests.apply(changes)
    digests.transactionID = id
    try write(digests, transaction)
  }

  /// What is wrong where ``Stored/damaged`` is read.
  static let damage = StoreError.corrupted(what: "The entry \(StoreFormat.digestsKey) is damaged.")

  static func write(
    _ digests: DatabaseDigests, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    try transaction.put(.unnamed, key: key, value: digests.encoded())
  }
}

/// A database whose entries have a digest, and what it is called in messages.
struct DigestedDatabase {
  let database: Database
  /// What its entries are, with the present names of entities and properties.
  let title: String
  let entity: String?

  /// What is wrong where the digest is another than its entries have.
  var finding: String {
    "\(title) differ from what the last commits wrote: a page of the file is damaged or outdated."
  }

  /// Whether the entries have the digest that the state has for them.
  ///
  /// - Throws: ``LMDBError/closed`` where the limit has ended it.
  func agrees(
    with digests: DatabaseDigests, _ reader: TransactionReader, _ limit: WorkLimit
  ) throws(LMDBError) -> Bool {
    guard let known = digests.sum(of: database.name) else { return true }
    let sum = try reader.digest(of: database) { (_) throws(LMDBError) in
      try limit.checkEngine()
      return true
    }
    return sum == known
  }
}
