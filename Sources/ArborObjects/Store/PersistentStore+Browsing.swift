package import ArborModel
package import ArborStore

/// What a browser of stores shows beyond what programs need.
extension PersistentStore {
  /// The newest commits that the store remembers, the oldest of them first.
  ///
  /// - Parameter limit: Their greatest number.
  package func recentCommits(_ limit: Int) throws(ArborError) -> [CommittedChanges] {
    try onSnapshot { snapshot throws(StoreError) in
      var count = UInt64(max(0, limit))
      // A history that begins later than asked for is found by asking for less.
      while count > 0 {
        let first = snapshot.sequence - min(count, snapshot.sequence)
        if case .entries(let entries) = try snapshot.history(after: first) {
          return entries.map { CommittedChanges($0, in: engine) }
        }
        count /= 2
      }
      return []
    }
  }

  /// The bytes that the records of each concrete entity fill in the file.
  package func recordBytes() throws(ArborError) -> [(entity: String, bytes: Int)] {
    try onSnapshot { snapshot throws(StoreError) in try snapshot.recordBytes() }
  }

  /// Checks the whole store as ``check()`` does, and tells how far it is.
  ///
  /// - Throws: `cancelled` where it is revoked, beside what ``check()`` throws.
  package func check(
    revocation: Revocation? = nil, _ progress: @escaping StoreCheckProgress.Reporter
  ) throws(ArborError) -> StoreCheckReport {
    try engine.reporting(engine.check(progress, revocation: revocation))
  }
}

extension ManagedObject {
  /// The number of bytes of a binary attribute, without reading one that lies outside of the
  /// record; nil for other values.
  package final func binaryLength(forKey key: String) -> Int? {
    guard case .attribute(let attribute) = binding.entity.property(named: key) else { return nil }
    let record = currentRecord
    if let reference = record.blob(attribute.field) { return Int(clamping: reference.length) }
    guard case .binary(let data) = record.value(attribute.field) else { return nil }
    return data.count
  }
}
