public import ArborLog
public import ArborModel
public import Foundation

extension PostgresLog {
  /// Begins the log of a store, in one transaction.
  ///
  /// - Returns: Whether the log was begun; `false` if a log with this name already exists.
  ///   Beginning it again with the same snapshot, for example after an error, returns `true` until
  ///   ``trim(through:)`` removes the log's first entry.
  /// - Throws: `ArborError` `logUnavailable`; `invalidArgument` for an unpublished snapshot, for
  ///   entries that don't follow it, or if the store has a log under another name;
  ///   `outcomeUnknown`.
  public func begin(
    with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]
  ) throws(ArborError) -> Bool {
    try check(entries, follow: snapshot)
    if try storeID() != nil { return try begins(with: snapshot) }
    let (id, root) = (PostgresValue.uuid(snapshot.store), PostgresValue.uuid(snapshot.id))
    guard try read(PostgresStatement(snapshotTexts.size, id, root)).count > 0 else {
      throw ArborError(
        .invalidArgument,
        "The snapshot to begin the log \(name) with hasn't been published. Publish the snapshot "
          + "first.")
    }
    let sequence = PostgresValue.integer(try number(of: snapshot))
    var statements = [
      PostgresStatement(snapshotTexts.addName, .text(store), id),
      PostgresStatement(
        snapshotTexts.addRoot, .text(store), id, sequence, root, .bytes(snapshot.digest.bytes)),
    ]
    statements += entries.map { entry in
      PostgresStatement(
        snapshotTexts.addEntry, id, .integer(Int64(entry.first)), .integer(Int64(entry.last)),
        .uuid(entry.batch), .bytes(entry.previous.bytes), .bytes(entry.digest.bytes),
        .bytes(entry.body), root)
    }
    _ = try write(statements, bytes: entries.reduce(0) { $0 + $1.body.count })
    if try storeID() == snapshot.store { return try begins(with: snapshot) }
    if try storeID() == nil,
      let other = try read(PostgresStatement(snapshotTexts.name, id)).text(0, 0)
    {
      throw ArborError(
        .invalidArgument,
        "The store \(snapshot.store.uuidString) already has the log \"\(other)\" in the database "
          + "of the log \(name). Use the name \"\(other)\", or remove that log.")
    }
    return false
  }

  /// Throws unless the entries follow a snapshot and each other.
  private func check(_ entries: [CommitLogEntry], follow snapshot: CommitLogSnapshot)
    throws(ArborError)
  {
    var end = (sequence: snapshot.sequence, digest: snapshot.digest)
    for entry in entries {
      guard isPossible(entry), entry.previous == end.digest, entry.first == end.sequence + 1 else {
        throw ArborError(
          .invalidArgument,
          "The first entries of the log \(name) don't continue its snapshot, which ends with commit "
            + "\(snapshot.sequence). Publish another snapshot, and begin the log with it.")
      }
      end = (entry.last, entry.digest)
    }
  }

  /// Publishes a snapshot, which becomes available once it is complete.
  ///
  /// The file is read and sent 1 MiB at a time.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `invalidArgument` if the log belongs to another
  ///   store; `fileUnreadable` and `inputOutput` for the file; `outcomeUnknown`.
  public func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    if let id = try storeID(), id != snapshot.store {
      throw ArborError(
        .invalidArgument,
        "The snapshot is of the store \(snapshot.store.uuidString), but the log \(name) belongs to "
          + "the store \(id.uuidString). Use a separate log for each store.")
    }
    let parts = try upload(snapshot, file)
    let results = try write([
      PostgresStatement(
        snapshotTexts.complete, .uuid(snapshot.store), .uuid(snapshot.id), .integer(parts))
    ])
    guard results[0].count > 0 else { throw removed(snapshot) }
  }

  /// Returns the newest valid snapshot, or `nil` if the log has none.
  ///
  /// - Throws: `ArborError` `logUnavailable`, `corrupted`.
  public func newestSnapshot() throws(ArborError) -> CommitLogSnapshot? {
    let rows = try read(PostgresStatement(snapshotTexts.newest, .text(store)))
    guard rows.count > 0 else { return nil }
    guard let id = rows.uuid(0, 0), let store = rows.uuid(0, 1), let sequence = rows.number(0, 2),
      let digest = rows.bytes(0, 3).flatMap({ CommitLogDigest(bytes: $0) })
    else { throw damaged("the row of a snapshot is damaged") }
    return CommitLogSnapshot(id: id, store: store, sequence: sequence, digest: digest)
  }

  /// Writes a snapshot to a file, 1 MiB at a time.
  ///
  /// - Throws: `ArborError` `logUnavailable`, including if the snapshot has been removed meanwhile;
  ///   `corrupted` if a part of it is missing; `diskFull` and `inputOutput` for the file.
  public func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError) {
    let (store, id) = (PostgresValue.uuid(snapshot.store), PostgresValue.uuid(snapshot.id))
    let size = PostgresStatement(snapshotTexts.size, store, id)
    guard let bytes = try read(size).number(0, 0) else { throw removed(snapshot) }
    var output = try LogOutput(file.path)
    var written: UInt64 = 0
    var part: Int64 = 0
    while written < bytes {
      let rows = try read(
        PostgresStatement(snapshotTexts.part, store, id, .integer(part)),
        bytes: PostgresTables.partSize)
      let expected = min(bytes - written, UInt64(PostgresTables.partSize))
      guard rows.count > 0, let body = rows.bytes(0, 0), body.count == expected else {
        guard try read(size).count > 0 else { throw removed(snapshot) }
        throw damaged("part \(part) of the snapshot \(snapshot.id.uuidString) is missing")
      }
      try output.append(body)
      written += expected
      part += 1
    }
    try output.finish()
  }

  /// Removes entries and snapshots that are needed neither to create a copy from the newest
  /// snapshot nor to continue after a sequence.
  ///
  /// Snapshots that are not valid yet, for example because they are still being sent, are kept for
  /// a day.
  ///
  /// - Throws: `ArborError` `logUnavailable`, `outcomeUnknown`. Some of the data may have been
  ///   removed.
  public func trim(through sequence: UInt64) throws(ArborError) {
    let last = PostgresValue.integer(Int64(clamping: sequence))
    let statement = PostgresStatement(entryTexts.trim, .text(store), last)
    while try write([statement])[0].count == EntryTexts.trimmedAtOnce {}
    _ = try write(snapshotTexts.trim.map { PostgresStatement($0, .text(store)) })
  }

  /// Removes the log with its snapshots and counters, or does nothing if it doesn't exist.
  ///
  /// Other logs in the database are kept. Copies that share the log find it missing, and cannot
  /// commit until they leave it. Runs as a single transaction, which may need a longer
  /// ``Options/statementTimeout`` for a large log.
  ///
  /// - Throws: `ArborError` `logUnavailable`, `outcomeUnknown`.
  public func remove() throws(ArborError) {
    _ = try write(snapshotTexts.removeLog.map { PostgresStatement($0, .text(store)) })
  }

  // MARK: Parts

  /// Returns the ID of the store whose log has this name, or `nil` if there is no such log.
  private func storeID() throws(ArborError) -> UUID? {
    let rows = try read(PostgresStatement(snapshotTexts.store, .text(store)))
    return rows.uuid(0, 0)
  }

  /// Returns whether the log of a snapshot's store was begun with it. Returns `false` if the log's
  /// first entry has been trimmed.
  private func begins(with snapshot: CommitLogSnapshot) throws(ArborError) -> Bool {
    let root = PostgresStatement(snapshotTexts.root, .uuid(snapshot.store), .uuid(snapshot.id))
    return try read(root).count > 0
  }

  /// Sends a file as the parts of a snapshot that is not valid yet. Returns the number of parts.
  private func upload(_ snapshot: CommitLogSnapshot, _ file: URL) throws(ArborError) -> Int64 {
    guard let input = try LogInput(file.path) else {
      throw ArborError(
        .fileUnreadable,
        "The snapshot file \(file.path) for the log \(name) doesn't exist. Check the path.")
    }
    let (store, id) = (PostgresValue.uuid(snapshot.store), PostgresValue.uuid(snapshot.id))
    _ = try write(snapshotTexts.clear.map { PostgresStatement($0, store) })
    _ = try write([
      PostgresStatement(
        snapshotTexts.add, store, id, .integer(try number(of: snapshot)),
        .bytes(snapshot.digest.bytes), .integer(Int64(input.size)))
    ])
    var part: Int64 = 0
    var offset = 0
    while offset < input.size {
      let bytes = try input.read(from: offset, count: PostgresTables.partSize)
      guard bytes.count == min(PostgresTables.partSize, input.size - offset) else {
        throw ArborError(
          .inputOutput,
          "\(file.path) was truncated while it was being sent to the log \(name). Publish the "
            + "snapshot again.")
      }
      _ = try write(
        [PostgresStatement(snapshotTexts.addPart, store, id, .integer(part), .bytes(bytes))],
        bytes: bytes.count)
      offset += bytes.count
      part += 1
    }
    return part
  }

  private func number(of snapshot: CommitLogSnapshot) throws(ArborError) -> Int64 {
    guard let sequence = Int64(exactly: snapshot.sequence) else {
      throw ArborError(
        .invalidArgument,
        "The log \(name) doesn't accept the snapshot of commit \(snapshot.sequence). The maximum "
          + "is \(Int64.max).")
    }
    return sequence
  }

  private func removed(_ snapshot: CommitLogSnapshot) -> ArborError {
    ArborError(
      .logUnavailable,
      "The snapshot \(snapshot.id.uuidString) of the log \(name) has been removed. Request the "
        + "newest snapshot.")
  }
}
