internal import ArborModel
internal import LMDB

/// Checks that the file's metadata is consistent with the open store and with its history.
extension StoreChecker {
  mutating func checkMetadata() throws(StoreError) {
    let arbor = store.databases.arbor
    let header = try StoreHeader.read(reader, path: store.path)
    if header.transactionID != reader.id {
      report.add(.header, "The header doesn't belong to the file's last transaction.")
    }
    if header.storeID != store.id || header.modelFingerprint != store.modelFingerprint {
      report.add(.header, "The header belongs to another store or model.")
    }
    try checkMarker(header, arbor)
    try checkIndexBuilds(header, arbor)
    try checkLog(header, arbor)
    do throws(StoreError) {
      keepsFormerModel = try FormerModel.read(reader, arbor) != nil
    } catch {
      guard case .corrupted(_, _, let what) = error else { throw error }
      report.add(.header, what)
    }
    try checkModel(arbor)
    for entity in store.schema.concreteEntities {
      try checkLayouts(of: entity, arbor)
    }
    _ = try checkCounter(StoreFormat.uniqueIDCounter)
  }

  private mutating func checkMarker(
    _ header: HeaderRecord, _ arbor: Database
  ) throws(StoreError) {
    let bytes = try reader.entryIfPresent(StoreFormat.migrationKey, in: arbor)
    let isSound = bytes.map { MigrationMarker($0) != nil } ?? true
    guard !isSound || (bytes != nil) != header.isBeingMigrated else { return }
    report.add(
      .header, "The entry \"migration\" is damaged or missing, or doesn't match the header.")
  }

  private mutating func checkIndexBuilds(
    _ header: HeaderRecord, _ arbor: Database
  ) throws(StoreError) {
    let key = StoreFormat.indexBuildsKey
    let bytes = try reader.entryIfPresent(key, in: arbor)
    guard let bytes, header.hasIndexBuilds else {
      if (bytes != nil) != header.hasIndexBuilds {
        report.add(.header, "The entry \"\(key)\" is missing or doesn't match the header.")
      }
      return
    }
    let known = Set(store.databases.indexes.map { store.schema.catalogNumber(of: $0.schema) })
    guard let list = IndexBuildList(bytes), list.builds.allSatisfy({ known.contains($0.index) })
    else {
      return report.add(
        .header, "The entry \"\(key)\" is damaged or belongs to another model.")
    }
  }

  /// Checks that the log exists if and only if the header's flag is set, and that it contains only
  /// commits of the store.
  private mutating func checkLog(
    _ header: HeaderRecord, _ arbor: Database
  ) throws(StoreError) {
    let bytes = try reader.entryIfPresent(StoreFormat.logKey, in: arbor)
    let isSound = bytes.map { LogReaders($0) != nil } ?? true
    if !isSound || (bytes != nil) != header.keepsLog {
      report.add(.header, "The entry \"log\" is damaged or missing, or doesn't match the header.")
    }
    guard let database = try store.logDatabase() else { return }
    try reader.forEachEntry(of: database, limit) { entry in
      let sequence = entry.integerKey
      let isCommit = LoggedCommitCodec.summary(entry.value, sequence: sequence) != nil
      if !isCommit || sequence > header.sequence {
        report.add(
          .history, "The log's entry \(sequence) is damaged or doesn't belong to a commit.")
      }
    }
  }

  private mutating func checkModel(_ arbor: Database) throws(StoreError) {
    if let bytes = try entry(StoreFormat.modelKey, arbor) {
      do throws(StoreError) {
        let model = try ModelCodec.decode(bytes)
        if model.fingerprint != store.modelFingerprint {
          report.add(.header, "The stored model differs from the one that the header names.")
        }
        if let bytes = try entry(StoreFormat.modelDigestKey, arbor),
          ModelCodec.decodeDigest(bytes) != ModelDigest(model)
        {
          report.add(.header, "The stored digest of the model doesn't match the stored model.")
        }
      } catch {
        report.add(.header, "The stored model is damaged.")
      }
    }
    if let bytes = try entry(StoreFormat.catalogKey, arbor) {
      let catalog = CatalogCodec.decode(bytes)
      // The former model may have been dropped since the store was opened.
      if catalog?.withoutRetiredDatabases != store.schema.catalog.withoutRetiredDatabases {
        report.add(.header, "The catalog is damaged or belongs to another model.")
      }
    }
  }

  private mutating func checkLayouts(
    of entity: EntitySchema, _ arbor: Database
  ) throws(StoreError) {
    for number in 1...entity.layout.number {
      let key = StoreFormat.layoutKey(entity: entity.number, layout: number)
      guard let bytes = try entry(key, arbor) else { continue }
      let stored = LayoutCodec.decode(bytes, entity: entity.number, number: number)
      guard let fields = stored?.layout.fields,
        number < entity.layout.number
          || fields.elementsEqual(entity.layout.fields, by: { $0.isStored(as: $1) })
      else {
        report.add(.header, "The entry \"\(key)\" is damaged or belongs to another layout.")
        continue
      }
    }
  }

  private mutating func entry(
    _ key: String, _ arbor: Database
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    let bytes = try reader.entryIfPresent(key, in: arbor)
    if bytes == nil { report.add(.header, "The entry \"\(key)\" is missing.") }
    return bytes
  }

  // MARK: History

  /// Checks that the history contains the last commits without gaps, up to the sequence number of
  /// the header.
  mutating func checkHistory() throws(StoreError) {
    let header = try StoreHeader.read(reader, path: store.path)
    var (last, count): (UInt64?, UInt64) = (nil, 0)
    try reader.forEachEntry(of: store.databases.history, nil) { found in
      checkCommit(found.value, found.integerKey, after: &last)
      count += 1
    }
    header.latestCommits.forEach(endingWith: header.sequence) { sequence, bytes in
      checkCommit(bytes, sequence, after: &last)
      count += 1
    }
    if (last ?? 0) != snapshot.sequence {
      report.add(
        .history,
        "The history ends with commit \(last ?? 0), but the header refers to commit "
          + "\(snapshot.sequence).")
    }
    let least = StoreFormat.historyLength
    let most = StoreFormat.maximumHistoryLength
    if count < min(snapshot.sequence, least) || count > min(snapshot.sequence, most) {
      report.add(
        .history,
        "The number of commits in the history is \(count), outside the range "
          + "\(min(snapshot.sequence, least)) to \(min(snapshot.sequence, most)).")
    }
  }

  private mutating func checkCommit(
    _ bytes: UnsafeRawBufferPointer, _ sequence: UInt64, after last: inout UInt64?
  ) {
    // A damaged key may be the greatest possible number.
    if let last, sequence != last &+ 1 {
      report.add(
        .history,
        sequence > last
          ? "The history has no commits between \(last) and \(sequence)."
          : "The history has commit \(sequence) after commit \(last).")
    }
    if HistoryCodec.decode(bytes, sequence: sequence, store.schema) == nil {
      report.add(.history, "History entry \(sequence) is damaged.")
    }
    last = sequence
  }
}

/// Checks that every database has exactly the entries that its commits wrote.
///
/// Records and indexes that are consistent with each other may both be outdated, which only the
/// digests reveal.
extension StoreChecker {
  mutating func checkDigests() throws(StoreError) {
    let digests: DatabaseDigests
    do throws(StoreError) { digests = try store.digests(snapshot) } catch {
      guard case .corrupted(_, _, let what) = error else { throw error }
      return report.add(.header, what)
    }
    for (index, database) in digested.enumerated() {
      progress?(StoreCheckProgress(stage: .digests, done: index, total: digested.count))
      let limit = limit
      let agrees = try storing(limit, database.agrees(with: digests, reader, limit))
      if !agrees { report.add(.digest, database.finding, entity: database.entity) }
    }
  }
}
