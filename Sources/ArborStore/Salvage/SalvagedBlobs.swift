internal import ArborModel
internal import LMDB

/// Copies the chunks of large binaries of a damaged store into the new one. Their owners and
/// integrity are determined later from the records.
final class SalvagedBlobs: SalvageCopying {
  let source: SalvageSource
  private let target: SalvageTarget
  private var bytes: [UInt8] = []
  private var chunks: [(entity: Int, key: [UInt8], range: Range<Int>)] = []
  var failure: StoreError?

  private static let maximumBytes = 8 << 20

  init(_ source: SalvageSource, _ target: SalvageTarget) {
    (self.source, self.target) = (source, target)
  }

  /// - Parameter everywhere: Whether all pages are searched for chunks, because records came from
  ///   unreachable pages.
  func copy(everywhere: Bool) throws(StoreError) {
    var isWhole = !everywhere
    let plans = target.entities.filter { target.databases.blobs($0.entity.index) != nil }
    try run { () throws(LMDBError) in
      for plan in plans {
        let name = StoreFormat.blobDatabase(target.schema.storedName(of: plan.entity))
        guard let tree = source.trees[name] else {
          isWhole = false
          continue
        }
        let isTreeWhole = try source.file.traverse(tree) { (entry, _) throws(LMDBError) in
          try self.take(entry)
        }
        if !isTreeWhole { isWhole = false }
      }
      if isWhole || plans.isEmpty { return }
      try source.file.scan { (_, _, leaf) throws(LMDBError) in
        try leaf.forEach { (entry) throws(LMDBError) in try self.take(entry) }
      }
    }
  }

  private func take(_ entry: DamagedEntry) throws(LMDBError) {
    guard let name = BlobName.of(key: entry.key)?.name,
      let entity = target.schema.entity(of: name.number),
      target.databases.blobs(entity.index) != nil
    else { return }
    try source.file.withValue(of: entry) { (value) throws(LMDBError) in
      guard let value, value.count <= StoreFormat.blobChunkSize else { return }
      let start = self.bytes.count
      self.bytes.append(contentsOf: value)
      self.chunks.append((entity.index, Array(entry.key), start..<self.bytes.count))
      if self.bytes.count >= Self.maximumBytes
        || self.chunks.count >= SalvageTarget.maximumChanges
      {
        try self.flush()
      }
    }
  }

  /// Writes the pending chunks. Chunks that were written earlier are kept, because trees are
  /// traversed before other pages are read.
  func writePending() throws(StoreError) {
    try target.write { (transaction) throws(StoreError) in
      try storing { () throws(LMDBError) in
        try bytes.withUnsafeBufferPointer { (bytes) throws(LMDBError) in
          for chunk in chunks {
            guard let database = target.databases.blobs(chunk.entity) else { continue }
            let value = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[chunk.range]))
            try transaction.put(database, key: chunk.key, value: value, .noOverwrite)
          }
        }
      }
    }
    bytes.removeAll(keepingCapacity: true)
    chunks.removeAll(keepingCapacity: true)
  }

  // MARK: Strays

  /// Removes the chunks that are not referred to by a record.
  func removeStrays() throws(StoreError) {
    for plan in target.entities {
      guard let database = target.databases.blobs(plan.entity.index) else { continue }
      var last: [UInt8]?
      repeat {
        let (strays, end) = try nextStrays(behind: last, database)
        last = end
        if strays.isEmpty { continue }
        try target.write { (transaction) throws(StoreError) in
          try storing { () throws(LMDBError) in
            for key in strays { try transaction.delete(database, key: key) }
          }
        }
      } while last != nil
    }
  }

  /// Returns the stray chunks among the next ones, and the key of the last one that was examined.
  private func nextStrays(
    behind last: [UInt8]?, _ database: Database
  ) throws(StoreError) -> (strays: [[UInt8]], end: [UInt8]?) {
    try target.read { (reader) throws(StoreError) in
      let cursor = try storing(reader.cursor(database))
      let allocator = SlabAllocator(slabSize: 4 << 10)
      var (strays, end, count): ([[UInt8]], [UInt8]?, Int) = ([], nil, 0)
      var entry = try storing(last.map({ $0 }) == nil ? cursor.first() : cursor.seek(last ?? []))
      while let found = entry, count < SalvageTarget.maximumChanges {
        let key = Array(found.key)
        if key != last {
          count += 1
          end = key
          if try !isReferred(found.key, reader, allocator) { strays.append(key) }
        }
        entry = try storing(cursor.next())
      }
      return (strays, end)
    }
  }

  private func isReferred(
    _ key: UnsafeRawBufferPointer, _ reader: TransactionReader, _ allocator: SlabAllocator
  ) throws(StoreError) -> Bool {
    guard let (name, chunk) = BlobName.of(key: key),
      let entity = target.schema.entity(of: name.number),
      let field = entity.layout.externalFields.first(where: { $0.catalogNumber == name.property }),
      let record = try target.record(name.number, reader, allocator),
      let reference = record.blob(field)
    else { return false }
    return reference.version == name.version && chunk < BlobStorage.chunkCount(reference)
  }
}
