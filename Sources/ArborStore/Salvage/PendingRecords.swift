internal import ArborModel
internal import LMDB

/// Records that are waiting to be written to the target of a salvage.
struct PendingRecords {
  private struct Item {
    let number: ObjectNumber
    let range: Range<Int>
    let isDoubtful: Bool
  }

  private var bytes: [UInt8] = []
  private var items: [Item] = []
  /// Whether a doubtful record replaces an older one that is certain.
  var replacesKept = false

  private static let maximumBytes = 4 << 20
  /// The marks of doubtful objects: of one whose record may be outdated or deleted, and of one with
  /// different records that all seem current.
  private static let (outdatedMark, ambiguousMark) = (UInt64(1), UInt64(2))

  var isFull: Bool {
    bytes.count >= Self.maximumBytes || items.count >= SalvageTarget.maximumChanges
  }

  mutating func append(_ record: UnsafeRawBufferPointer, _ number: ObjectNumber, isDoubtful: Bool) {
    let start = bytes.count
    bytes.append(contentsOf: record)
    items.append(Item(number: number, range: start..<bytes.count, isDoubtful: isDoubtful))
  }

  /// Writes the pending records. Each is skipped if a newer or more certain one is stored.
  mutating func write(to target: SalvageTarget) throws(StoreError) {
    guard !items.isEmpty else { return }
    items.sort { $0.number < $1.number }
    let (items, bytes, replacesKept) = (items, bytes, replacesKept)
    try target.write { (transaction) throws(StoreError) in
      try storing { () throws(LMDBError) in
        try bytes.withUnsafeBufferPointer { (bytes) throws(LMDBError) in
          for item in items {
            let record = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[item.range]))
            try Self.write(item, record, replacesKept, target, transaction)
          }
        }
      }
    }
    self.items.removeAll(keepingCapacity: true)
    self.bytes.removeAll(keepingCapacity: bytes.count <= 2 * Self.maximumBytes)
  }

  private static func write(
    _ item: Item, _ record: UnsafeRawBufferPointer, _ replacesKept: Bool, _ target: SalvageTarget,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let entity = target.schema.entity(of: item.number) else { return }
    let (database, key) = (target.databases.records(entity.index), item.number.rawValue)
    if let present = try transaction.reader.get(database, key: key) {
      let mark = try transaction.reader.get(target.doubtful, key: key)
      let isDoubtful = mark?.loadUnaligned(as: UInt64.self) == outdatedMark
      if isDoubtful == item.isDoubtful {
        // A state has one record of an object, so one of the two pages is from a copy of the store.
        if !isDoubtful, !record.elementsEqual(present) {
          try transaction.put(target.doubtful, key: key, value: ambiguousMark, .overwrite)
        }
        guard age(of: record) > age(of: present) else { return }
      } else if item.isDoubtful {
        guard replacesKept, age(of: record) > age(of: present) else { return }
        try transaction.put(target.doubtful, key: key, value: outdatedMark, .overwrite)
      } else {
        try transaction.delete(target.doubtful, key: key)
      }
    } else if item.isDoubtful {
      try transaction.put(target.doubtful, key: key, value: outdatedMark, .overwrite)
    }
    try transaction.put(database, key: key, value: record)
  }

  /// Returns a number that increases with each record of an object: its commit, then its layout,
  /// because a reversal of a migration may rewrite it with the same commit.
  private static func age(of record: UnsafeRawBufferPointer) -> UInt64 {
    let minimum = RecordLayout.headerSize + RecordLayout.trailerSize
    guard let base = record.baseAddress, record.count >= minimum else { return 0 }
    let view = RecordView(base: base, count: record.count)
    return view.commit << 16 | UInt64(view.layoutNumber)
  }
}
