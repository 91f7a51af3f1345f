internal import ArborModel
internal import ArborStore

/// A batch of a log's commits, which are replayed in one transaction of a store.
struct LogBatch {
  /// The maximum number of commits in a batch.
  private static let maximumCommits = 1000
  /// The number of bytes of commits at which a batch is written.
  private static let maximumBytes = 16 << 20

  let base: LogBase
  /// The store, which is opened again after a change of the model.
  private(set) var file: StoreEngine
  let keepsPosition: Bool
  /// The options for opening the store again, or `nil` if the store is in use, so that its model
  /// can't change.
  let reopening: StoreOpening?
  private(set) var commits: [LoggedCommit] = []
  private(set) var bytes = 0
  private(set) var position: LogPosition?
  /// The error of the store, after which nothing more is written, or `nil`.
  private(set) var failure: StoreError?

  init(base: LogBase, file: StoreEngine, keepsPosition: Bool, reopening: StoreOpening?) {
    self.base = base
    self.file = file
    self.keepsPosition = keepsPosition
    self.reopening = reopening
  }

  /// Adds a commit, and writes the batch when it is full. Returns `false` if the store has failed
  /// and nothing more is written.
  ///
  /// - Throws: ``ArborError`` `corrupted` if the commit doesn't match the store's model;
  ///   `modelChanged` if it changes the model of a store that is in use.
  mutating func append(_ entry: SegmentEntry) throws(ArborError) -> Bool {
    if entry.body.withUnsafeBytes(LoggedCommitCodec.isModelChange) {
      write()
      if failure == nil { try changeModel(entry) }
      return failure == nil
    }
    let commit = entry.body.withRawBytes {
      LoggedCommitCodec.decode($0, sequence: entry.sequence, file.schema)
    }
    guard let commit else { throw damaged(entry) }
    commits.append(commit)
    bytes += entry.body.count
    position = LogPosition(
      log: base.manifest.log, base: base.number, sequence: entry.sequence, chain: entry.chain)
    if commits.count >= Self.maximumCommits || bytes >= Self.maximumBytes { write() }
    return failure == nil
  }

  private func damaged(_ entry: SegmentEntry) -> ArborError {
    ArborError.damagedLog(
      base.folder, "commit \(entry.sequence) doesn't belong to the model before it")
  }

  private mutating func changeModel(_ entry: SegmentEntry) throws(ArborError) {
    let change = entry.body.withRawBytes { LoggedModelChange($0, sequence: entry.sequence) }
    guard let change else { throw damaged(entry) }
    guard let reopening, let path = file.path else {
      throw LogFollower.needsReopening(base.log, "continues with another model")
    }
    do throws(StoreError) {
      // The changes so far need not be durable, but have to be in the file.
      file.close()
      try StoreEngine.replay(change, at: path)
      file = try StoreEngine.open(reopening)
    } catch {
      failure = error
    }
  }

  mutating func finish() throws(StoreError) {
    write()
    if let failure { throw failure }
  }

  private mutating func write() {
    guard !commits.isEmpty, failure == nil else { return }
    do throws(StoreError) {
      try file.replay(commits, position: keepsPosition ? position?.recorded : nil)
    } catch {
      failure = error
    }
    (commits, bytes) = ([], 0)
  }
}
