internal import ArborModel
internal import ArborStore

/// A batch of a log's commits, which are replayed in one transaction of a store.
struct LogBatch {
  /// The maximum number of commits in a batch.
  private static let maximumCommits = 1000
  /// The number of bytes of commits at which a batch is written.
  private static let maximumBytes = 16 << 20

  let base: LogBase
  let file: StoreEngine
  let keepsPosition: Bool
  private(set) var commits: [LoggedCommit] = []
  private(set) var bytes = 0
  private(set) var position: LogPosition?
  /// The error of the store, after which nothing more is written, or `nil`.
  private(set) var failure: StoreError?

  /// Adds a commit, and writes the batch when it is full. Returns `false` if the store has failed
  /// and nothing more is written. Throws `corrupted` if the commit doesn't match the store's model.
  mutating func append(_ entry: SegmentEntry) throws(ArborError) -> Bool {
    let commit = entry.body.withRawBytes {
      LoggedCommitCodec.decode($0, sequence: entry.sequence, file.schema)
    }
    guard let commit else {
      throw ArborError.damagedLog(
        base.folder, "commit \(entry.sequence) doesn't belong to the snapshot's model")
    }
    commits.append(commit)
    bytes += entry.body.count
    position = LogPosition(
      log: base.manifest.log, base: base.number, sequence: entry.sequence, chain: entry.chain)
    if commits.count >= Self.maximumCommits || bytes >= Self.maximumBytes { write() }
    return failure == nil
  }

  mutating func finish() throws(StoreError) {
    write()
    if let failure { throw failure }
  }

  private mutating func write() {
    guard !commits.isEmpty, failure == nil else { return }
    do throws(StoreError) {
      try file.replay(commits, position: keepsPosition ? position?.encoded() : nil)
    } catch {
      failure = error
    }
    (commits, bytes) = ([], 0)
  }
}
