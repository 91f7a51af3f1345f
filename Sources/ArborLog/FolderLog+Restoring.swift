public import ArborFoundation
internal import ArborModel
internal import ArborStore

/// A point in the history of a store.
public enum RestorePoint: Sendable, Hashable {
  /// The newest commit.
  case newest
  /// The last commit at or before a date.
  case date(Date)
  /// The commit with a sequence.
  case sequence(UInt64)
}

extension FolderLog {
  /// Restores the log's store at a point in time.
  ///
  /// - Parameters:
  ///   - path: The path of the new file, which must not exist.
  ///   - follows: Whether the store records its position in the log, to follow it from there.
  /// - Returns: The sequence of the newest commit in the store.
  /// - Throws: `ArborError` of the log, `StoreError` of the store. No file is left at the path in
  ///   that case.
  package func restore(
    to path: String, at point: RestorePoint, follows: Bool = false
  ) throws -> UInt64 {
    let (folder, identity) = try existing()
    let bases = try bases(of: identity)
    let (base, target) = try Self.find(point, bases, folder)
    let counters = try Self.counters(bases, needing: base)
      .merging(recordedCounters(of: identity)) { max($0, $1) }
    var restored: UInt64 = 0
    do throws(StoreError) {
      try StoreCreation.install(at: path) { (temporary) throws(StoreError) in
        do {
          restored = try Self.fill(temporary, base, upTo: target, counters, follows: follows)
        } catch let error as StoreError {
          throw error
        } catch {
          throw .query(error as? ArborError ?? ArborError(.inputOutput, "\(error)"))
        }
      }
    } catch {
      if case .query(let error) = error { throw error }
      throw error
    }
    return restored
  }

  /// - Returns: The sequence of the store's newest commit.
  private static func fill(
    _ path: String, _ base: LogBase, upTo target: UInt64, _ counters: [String: UInt64],
    follows: Bool
  ) throws -> UInt64 {
    do {
      var output = try LogOutput(path)
      try base.forEachBlock { (block) throws(ArborError) in try output.append(block) }
      try output.finish()
    }
    var opening = StoreOpening(.file(path), model: nil)
    opening.isDurable = false
    opening.looksForDamage = false
    var file = try StoreEngine.open(opening)
    defer { file.close() }
    guard file.id == base.manifest.store else {
      throw ArborError.damagedLog(base.snapshotPath, "it belongs to another store")
    }
    let end = try Self.apply(base, to: &file, upTo: target, reopening: opening)
    let position = LogPosition(log: base.manifest.log, end)
    try file.replay([], counters: counters, position: follows ? position.recorded : nil)
    try file.synchronize()
    return file.lastSequence
  }

  /// Replays the commits of a log that follow the store's newest one, in batches.
  ///
  /// - Parameters:
  ///   - known: The position of the store in the log, whose chain is verified; `nil` for a new
  ///     store.
  ///   - target: The sequence of the last commit to replay.
  ///   - keepsPosition: Whether the store records its position in the log.
  ///   - reopening: The options for opening the store again after a change of its model, or `nil` if
  ///     the store is in use, so that a change of the model ends the replay.
  @discardableResult
  static func apply(
    _ base: LogBase, to file: inout StoreEngine, at known: LogPosition? = nil,
    upTo target: UInt64 = .max, keepsPosition: Bool = false,
    reopening: StoreOpening? = nil
  ) throws -> LogEnd {
    var batch = LogBatch(
      base: base, file: file, keepsPosition: keepsPosition, reopening: reopening)
    defer { file = batch.file }
    let limit = WorkLimit()
    let start = known?.sequence ?? file.lastSequence
    let end = try base.forEachEntry(after: start, upTo: target, knowing: known?.chain) {
      (entry) throws(ArborError) in
      try limit.checkLog()
      return try batch.append(entry)
    }
    try batch.finish()
    return end
  }

  // MARK: Points in time

  /// Returns the snapshot from which a point is reached, and the sequence of the point's commit.
  private static func find(
    _ point: RestorePoint, _ bases: [Result<LogBase, ArborError>], _ folder: String
  ) throws(ArborError) -> (LogBase, UInt64) {
    guard let last = bases.last else {
      throw ArborError(
        .fileUnreadable, "The log \(folder) has no snapshot yet. Make a backup first.")
    }
    switch point {
    case .newest:
      let base = try last.get()
      return (base, try base.end().sequence)
    case .sequence(let sequence): return (try find(sequence, bases, folder), sequence)
    case .date(let date):
      var search = DateSearch(date, folder)
      for base in bases { try search.add(base) }
      return try search.result()
    }
  }

  /// Returns the last snapshot that contains a commit, or from which it can be reached.
  private static func find(
    _ sequence: UInt64, _ bases: [Result<LogBase, ArborError>], _ folder: String
  ) throws(ArborError) -> LogBase {
    let commit = "commit \(sequence)"
    var last: (base: LogBase, next: Result<LogBase, ArborError>?)?
    for (index, base) in bases.enumerated() {
      guard let base = try? base.get(), base.manifest.sequence <= sequence else { continue }
      last = (base, index + 1 < bases.count ? bases[index + 1] : nil)
    }
    guard let (base, next) = last else {
      // A damaged snapshot may have contained the commit.
      let first = try bases[0].get()
      throw missing(commit, folder, "it begins with commit \(first.manifest.sequence)")
    }
    let end = try base.end()
    guard end.sequence < sequence else { return base }
    guard let next = try next?.get() else {
      throw missing(commit, folder, "it ends with commit \(end.sequence)")
    }
    try next.checkContinues(end, in: base.folder)
    throw missing(
      commit, folder,
      "it has no commits between \(end.sequence) and \(next.manifest.sequence)")
  }

  static func missing(_ point: String, _ folder: String, _ what: String) -> ArborError {
    ArborError(
      .objectNotFound, "The log \(folder) cannot restore \(point): \(what). Choose another point.")
  }

  /// Returns the highest counter values in the entire log, so that no number is issued again.
  ///
  /// - Parameter needed: The snapshot to restore from. Damage in others is ignored.
  private static func counters(
    _ bases: [Result<LogBase, ArborError>], needing needed: LogBase
  ) throws(ArborError) -> [String: UInt64] {
    var counters: [String: UInt64] = [:]
    for base in bases {
      guard let base = try? base.get() else { continue }
      var found = base.manifest.counters
      do throws(ArborError) { found = try base.end().counters } catch {
        guard error.code == .corrupted, base.number != needed.number else { throw error }
      }
      counters.merge(found) { max($0, $1) }
    }
    return counters
  }
}

extension WorkLimit {
  /// Performs `checkNow()`, throwing the public error.
  func checkLog() throws(ArborError) {
    do throws(Interruption) { try checkNow() } catch { throw ArborError(error) }
  }
}
