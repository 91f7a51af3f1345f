internal import ArborModel
internal import LMDB

/// Fills the indexes of the new store from its records and removes objects that violate uniqueness
/// constraints, doubtful ones first.
struct SalvageIndexes {
  let target: SalvageTarget

  /// Fills the indexes.
  ///
  /// - Parameter isSmall: Whether they are filled at once instead of in batches. This must be the
  ///   result of ``isSmall(_:)`` before the first call, because batches leave a list of unfinished
  ///   indexes that only batches remove.
  /// - Returns: The objects that were removed. If there are any, the indexes have to be filled
  ///   again, because others may refer to these objects.
  func build(atOnce isSmall: Bool) throws(StoreError) -> [ObjectNumber] {
    let violations = try isSmall ? buildAtOnce() : buildInBatches()
    return try remove(violations.map { ($0.existing, $0.offending) })
  }

  private func builder() throws(StoreError) -> IndexBuilder {
    try IndexBuilder(
      target.schema, target.databases, target.layouts, storeID: target.storeID
    ) { _ in true }
  }

  private func clear(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    try storing { () throws(LMDBError) in
      for index in target.databases.indexes { try transaction.clear(index.database) }
    }
  }

  private func buildAtOnce() throws(StoreError) -> [UniquenessViolation] {
    var found: [UniquenessViolation] = []
    let builder = try self.builder()
    try target.write { (transaction) throws(StoreError) in
      try clear(transaction)
      try builder.build(transaction)
      found = try builder.violations(transaction.reader)
    }
    return found
  }

  /// Fills the indexes like a migration does in the background, so that no transaction is large.
  private func buildInBatches() throws(StoreError) -> [UniquenessViolation] {
    let arbor = target.databases.arbor
    try target.write { (transaction) throws(StoreError) in
      try clear(transaction)
      var header = try StoreHeader.read(transaction.reader)
      let builds = target.databases.indexes.map {
        IndexBuildList.Build(index: target.schema.catalogNumber(of: $0.schema))
      }
      try IndexBuildList(builds).write(&header, arbor, transaction)
      header.transactionID = transaction.id
      try StoreHeader.write(header, in: transaction)
    }
    let opening = StoreOpening(.file(target.environment.path), model: nil)
    let parts = try StoreOpener(opening).parts(of: target.environment, path: nil)
    let store = StoreEngine(parts)
    do throws(StoreError) {
      try OnlineIndexBuilder(store, largestBatch: opening.largestIndexBatch).run()
      return []
    } catch .duplicatesBuilt {
      let builder = try self.builder()
      return try target.read { (reader) throws(StoreError) in try builder.violations(reader) }
    } catch {
      throw error
    }
  }

  /// Returns whether the store has at most `most` objects.
  func isSmall(_ most: Int) throws(StoreError) -> Bool {
    try target.read { (reader) throws(StoreError) in
      try storing { () throws(LMDBError) in
        var count = 0
        for plan in target.entities { count += try reader.entryCount(plan.records) }
        return count <= most
      }
    }
  }

  /// Removes one object of each pair and returns the removed objects.
  private func remove(_ pairs: [(ObjectNumber, ObjectNumber)]) throws(StoreError) -> [ObjectNumber]
  {
    guard !pairs.isEmpty else { return [] }
    var removed: [ObjectNumber] = []
    try target.write { (transaction) throws(StoreError) in
      removed = []
      try storing { () throws(LMDBError) in
        for (first, second) in pairs {
          let isFirstDoubtful =
            try transaction.reader.get(target.doubtful, key: first.rawValue) != nil
          let isSecondDoubtful =
            try transaction.reader.get(target.doubtful, key: second.rawValue) != nil
          let number = isFirstDoubtful && !isSecondDoubtful ? first : second
          guard let entity = target.schema.entity(of: number),
            try transaction.delete(target.databases.records(entity.index), key: number.rawValue)
          else { continue }
          try transaction.delete(target.doubtful, key: number.rawValue)
          removed.append(number)
        }
      }
    }
    return removed
  }
}
