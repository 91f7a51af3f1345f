internal import LMDB

/// A transaction that makes commits, in a store that may share a log.
///
/// If the store shares a log, the transaction appends its commits to it as its last step, before
/// LMDB commits. The answer of the log decides what happens:
///
/// - *written*: the commits count. LMDB commits them here; if it cannot, they are made again from
///   the log.
/// - *behind*: others have appended first. The transaction is aborted, their commits are made here,
///   and the transaction runs again.
/// - *unknown*: the transaction is aborted, and the caller learns that nobody knows yet.
///
/// Without a log the transaction simply commits.
struct SharedCommit {
  private enum Decision {
    case none
    case written(CommitGroup)
    case behind([CommitGroup])
  }

  private let store: StoreEngine
  private var decision = Decision.none

  private init(_ store: StoreEngine) { self.store = store }

  /// Runs a transaction and commits it, through the log that the store shares, if any.
  ///
  /// - Parameter makeCommits: Writes the commits and returns them as ``LoggedCommitCodec`` encodes
  ///   them, if `isShared` is true. May run again, and must change nothing but the file and what it
  ///   overwrites.
  /// - Throws: As ``StoreEngine/runTransaction(topsUpNumbers:passesMarker:repeats:_:)``;
  ///   `outcomeUnknown`; `inLogOnly` if the log has the commits and the file cannot get them.
  static func run(
    in store: StoreEngine,
    _ makeCommits: (
      borrowing WriteTransaction, inout HeaderRecord, _ isShared: Bool
    ) throws(StoreError) -> [[UInt8]]
  ) throws(StoreError) {
    var shared = SharedCommit(store)
    while true {
      do throws(StoreError) {
        return try store.runTransaction(topsUpNumbers: true) {
          (transaction, header) throws(StoreError) in
          // After the map has grown the body runs again. What the log has is not appended again.
          if case .written = shared.decision { throw .behindLog }
          // Sharing may have begun in a transaction that this one waited for.
          let log = store.sharedLog
          let former = header
          let commits = try makeCommits(transaction, &header, log != nil)
          guard let log else { return }
          if !commits.isEmpty { try shared.append(commits, behind: former, to: log, transaction) }
          store.deferral.prepare(&header, transaction)
        }
      } catch {
        guard try shared.runsAgain(after: error) else { return }
      }
    }
  }

  /// Appends the commits of a transaction to the log, before LMDB commits it.
  private mutating func append(
    _ commits: [[UInt8]], behind header: HeaderRecord, to log: any SharedLog,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let position = try store.sharedPosition(transaction.reader, header)
    let group = CommitGroup(
      batch: CommitGroup.newBatch(), first: header.sequence + 1, before: position.chain,
      commits: commits)
    switch try log.append(group) {
    case .written: decision = .written(group)
    case .behind(let groups):
      decision = .behind(groups)
      throw .behindLog
    case .refused(let reason): throw reason
    case .unknown: throw .outcomeUnknown(batch: group.batch)
    }
    try store.writePosition(position.after(group), transaction)
  }

  /// Makes the file agree with the log after a transaction that failed.
  ///
  /// - Returns: Whether the transaction has to run again.
  private mutating func runsAgain(after error: StoreError) throws(StoreError) -> Bool {
    switch decision {
    case .none: throw error
    case .behind(let groups):
      // The commits of others come first, and the transaction validates its own by them.
      let count = try store.takeOver(groups)
      store.sharedLog?.noteTakenOver(count)
      decision = .none
      return true
    case .written(let group):
      // The log has them, so they are commits, whatever keeps them from this file.
      do throws(StoreError) { try store.takeOver([group]) } catch {
        throw .inLogOnly(batch: group.batch, error)
      }
      return false
    }
  }
}
