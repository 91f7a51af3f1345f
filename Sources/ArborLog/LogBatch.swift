internal import ArborModel
internal import ArborStore

/// Commits of a log that are made again in one transaction of a store.
struct LogBatch {
  /// So many commits, or commits of so many bytes.
  private static let mostCommits = 1000
  private static let mostBytes = 16 << 20

  let base: LogBase
  let file: StoreEngine
  let keepsPosition: Bool
  private(set) var commits: [LoggedCommit] = []
  private(set) var bytes = 0
  private(set) var position: LogPosition?
  /// What the store threw; nothing more is written then.
  private(set) var failure: StoreError?

  /// Takes a commit of the model of the store, or throws `corrupted`; false: nothing more is
  /// written.
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
    if commits.count >= Self.mostCommits || bytes >= Self.mostBytes { write() }
    return failure == nil
  }

  mutating func finish() throws(StoreError) {
    write()
    if let failure { throw failure }
  }

  private mutating func write() {
    guard !commits.isEmpty, failure == nil else { return }
    do throws(StoreError) {
      try file.makeAgain(commits, position: keepsPosition ? position?.encoded() : nil)
    } catch {
      failure = error
    }
    (commits, bytes) = ([], 0)
  }
}
