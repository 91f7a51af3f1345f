internal import ArborModel
internal import LMDB

/// The objects that have been deleted according to the history of a damaged store.
struct DeletedObjects {
  private var numbers: Set<UInt64> = []

  /// The maximum number of objects to remember. Records of further deleted objects count as
  /// doubtful.
  private static let maximumCount = 1 << 20

  func contains(_ number: ObjectNumber) -> Bool { numbers.contains(number.rawValue) }

  /// Reads the available history. An object counts as deleted if the last commit that changed it
  /// deleted it.
  mutating func read(_ source: SalvageSource, _ schema: ModelSchema) throws(StoreError) {
    let list = DeletionList()
    if let tree = source.trees[StoreFormat.historyDatabase] {
      try storing(source.limit) { () throws(LMDBError) in
        _ = try source.file.traverse(tree) { (entry, _) throws(LMDBError) in
          guard entry.key.count == 8 else { return }
          let sequence = entry.key.loadUnaligned(as: UInt64.self)
          try source.file.withValue(of: entry) { (bytes) throws(LMDBError) in
            if let bytes { list.note(bytes, sequence, schema) }
          }
        }
      }
    }
    if let header = source.header {
      header.latestCommits.forEach(endingWith: header.sequence) { sequence, bytes in
        list.note(bytes, sequence, schema)
      }
    }
    numbers = list.numbers
  }

  private final class DeletionList {
    var numbers: Set<UInt64> = []

    func note(_ bytes: UnsafeRawBufferPointer, _ sequence: UInt64, _ schema: ModelSchema) {
      guard let entry = HistoryCodec.decode(bytes, sequence: sequence, schema) else { return }
      for change in entry.changes {
        if change.kind == .delete {
          if numbers.count < maximumCount { numbers.insert(change.number.rawValue) }
        } else {
          numbers.remove(change.number.rawValue)
        }
      }
    }
  }
}
