package import ArborModel
package import ArborStore

/// Additional information for the store browser.
extension PersistentStore {
  /// Returns the newest commits in the store's history, oldest first.
  ///
  /// - Parameter limit: The maximum number of commits.
  package func recentCommits(_ limit: Int) throws(ArborError) -> [CommittedChanges] {
    try onSnapshot { snapshot throws(StoreError) in
      var count = UInt64(max(0, limit))
      // If the history doesn't reach back far enough, tries again with fewer commits.
      while count > 0 {
        let first = snapshot.sequence - min(count, snapshot.sequence)
        if case .entries(let entries) = try snapshot.history(after: first) {
          return try entries.map { (entry) throws(StoreError) in
            CommittedChanges(entry, try HistoryToken(entry.sequence, in: snapshot), in: engine)
          }
        }
        count /= 2
      }
      return []
    }
  }

  /// Returns the sequence number of the newest commit of any process.
  package func newestSequence() throws(ArborError) -> UInt64 {
    try onSnapshot { snapshot throws(StoreError) in snapshot.sequence }
  }

  /// Whether the store's path still refers to its file. Always true of a store in memory.
  package var isInPlace: Bool { engine.isInPlace }

  /// Returns the number of bytes used by the records of each concrete entity.
  package func recordBytes() throws(ArborError) -> [(entity: String, bytes: Int)] {
    try onSnapshot { snapshot throws(StoreError) in try snapshot.recordBytes() }
  }

  /// Checks the whole store, like ``check()``, and reports the check's progress.
  ///
  /// - Throws: `cancelled` if `revocation` is revoked, and the errors of reading the store.
  package func check(
    revocation: Revocation? = nil, _ progress: @escaping StoreCheckProgress.Reporter
  ) throws(ArborError) -> StoreCheckReport {
    try engine.reporting(engine.check(progress, revocation: revocation))
  }
}

extension ManagedObject {
  /// Returns the number of bytes of a binary attribute, without reading externally stored data.
  /// `nil` for other values.
  package final func binaryLength(forKey key: String) -> Int? {
    guard case .attribute(let attribute) = binding.entity.property(named: key) else { return nil }
    let record = currentRecord
    if let reference = record.blob(attribute.field) { return Int(clamping: reference.length) }
    guard case .binary(let data) = record.value(attribute.field) else { return nil }
    return data.count
  }
}
