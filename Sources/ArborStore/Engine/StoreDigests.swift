internal import ArborModel
internal import LMDB

/// Maintains the digests of a file's databases next to its header; see ``DatabaseDigests``.
enum StoreDigests {
  private static let key = Array(StoreFormat.digestsKey.utf8)

  /// Reads the digests of a state, given the transaction ID in its header.
  ///
  /// - Throws: `corrupted` if they are missing, damaged or those of another state.
  static func read(
    _ reader: TransactionReader, of transactionID: UInt64
  ) throws(StoreError) -> DatabaseDigests {
    guard let bytes = try storing(reader.get(.unnamed, key: key)),
      let digests = DatabaseDigests(bytes), digests.transactionID == transactionID
    else { throw .corrupted(what: "The entry \"\(StoreFormat.digestsKey)\" is damaged.") }
    return digests
  }

  /// Writes the digests of a file without entries, in the transaction that creates it.
  static func begin(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    try write(DatabaseDigests(transactionID: transaction.id), transaction)
  }

  /// Adds the changes of the transaction so far. Does nothing if the digests are damaged, so that
  /// this is still noticed later.
  ///
  /// - Parameter former: The transaction ID in the previous header if it isn't the one before this
  ///   transaction, as in a copy whose transactions are numbered differently.
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

  private static func write(
    _ digests: DatabaseDigests, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    try transaction.put(.unnamed, key: key, value: digests.encoded())
  }
}

/// A database with a digest, and its name in messages.
struct DigestedDatabase {
  let database: Database
  /// A description of the database's entries, with the current names of entities and properties.
  let title: String
  let entity: String?

  /// The message for entries that don't match the digest.
  var finding: String {
    "\(title) differ from what the last commits wrote: a page of the file is damaged or outdated."
  }

  /// Returns whether the entries match the digest of the state.
  ///
  /// - Throws: ``LMDBError/closed`` if the limit has ended the computation.
  func agrees(
    with digests: DatabaseDigests, _ reader: TransactionReader, _ limit: WorkLimit
  ) throws(LMDBError) -> Bool {
    let sum = try reader.digest(of: database) { (_) throws(LMDBError) in
      try limit.checkLMDB()
      return true
    }
    return sum == digests.sum(of: database.name)
  }
}
