internal import ArborModel
internal import LMDB

/// Every database has the entries that its commits have left, and no others.
///
/// Records and indexes that agree with one another may both be of a former state; the digests tell.
extension StoreChecker {
  mutating func checkDigests() throws(StoreError) {
    switch try store.digests(snapshot) {
    case .unknown: return
    case .damaged: report.add(.header, "The entry \(StoreFormat.digestsKey) is damaged.")
    case .known(let digests):
      for (index, database) in digested.enumerated() {
        progress?(StoreCheckProgress(stage: .digests, done: index, total: digested.count))
        let limit = limit
        let agrees = try storing(limit) { () throws(LMDBError) in
          try database.agrees(with: digests, reader, limit)
        }
        if !agrees { report.add(.digest, database.finding, entity: database.entity) }
      }
    }
  }
}
