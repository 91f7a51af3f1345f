internal import LMDB

/// A transaction that creates commits, in a store that may share a log.
///
/// If the store shares a log, the transaction appends its commits to it as its last step, before
/// LMDB commits. The log's response determines what happens:
///
/// - *written*: The commits are effective. LMDB commits them here; if it cannot, they are replayed
///   from the log.
/// - *behind*: Other stores have appended first. The transaction is aborted, their commits are
///   replayed here, and the transaction runs again.
/// - *unknown*: The transaction is aborted, and the caller is notified that the outcome is unknown.
///
/// Without a log, the transaction simply commits.
struct SharedCommit {
  private enum Decision {
    case none
    case written(LoggedGroup)
    case behind([LoggedGroup])
  }

  private let store: StoreEngine
  private var decision = Decision.none

  private init(_ store: StoreEngine) { self.store = store }

  /// Runs a transaction and commits it, through the log that the store shares, if any.
  ///
  /// - Parameter makeCommits: Writes the commits and returns them as encoded by
  ///   ``LoggedCommitCodec``, or none if they need more than `encodingLimit` bytes, which is zero
  ///   if nothing needs them. May run again, and must change nothing but the file and state that it
  ///   overwrites.
  /// - Throws: The same errors as
  ///   ``StoreEngine/runRedoable(topsUpNumbers:passesMarker:inFollower:_:)``; `outcomeUnknown`;
  ///   `inLogOnly` if the log has the commits but they cannot be written to the file.
  static func run(
    in store: StoreEngine,
    _ makeCommits: (
      borrowing WriteTransaction, inout HeaderRecord, _ encodingLimit: Int
    ) throws(StoreError) -> [[UInt8]]
  ) throws(StoreError) {
    var shared = SharedCommit(store)
    while true {
      do throws(StoreError) {
        return try store.runRedoable(topsUpNumbers: true) {
          (transaction, header) throws(StoreError) -> Redo in
          // The body runs again after the map has grown. Commits that are already in the log are
          // not appended again.
          if case .written = shared.decision { throw .behindLog }
          // Sharing may have begun while this transaction waited for another one.
          let log = store.sharedLog
          let former = header
          guard let log else {
            let size = store.journal.largestEntry(header)
            let commits = try makeCommits(transaction, &header, size)
            return commits.isEmpty ? .none : .commits(commits)
          }
          let commits = try makeCommits(transaction, &header, .max)
          if !commits.isEmpty { try shared.append(commits, behind: former, to: log, transaction) }
          return .sharedLog
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
    let group = LoggedGroup(
      batch: LoggedGroup.newBatch(), first: header.sequence + 1, before: position.chain,
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

  /// Makes the file consistent with the log after a failed transaction.
  ///
  /// - Returns: Whether the transaction has to run again.
  private mutating func runsAgain(after error: StoreError) throws(StoreError) -> Bool {
    switch decision {
    case .none: throw error
    case .behind(let groups):
      // Commits of other stores come first, and the transaction validates its own against them.
      let count = try store.takeOver(groups)
      store.sharedLog?.noteTakenOver(count)
      decision = .none
      return true
    case .written(let group):
      // The commits are in the log, so they are effective even if they cannot be written to this
      // file.
      do throws(StoreError) { try store.takeOver([group]) } catch {
        throw .inLogOnly(batch: group.batch, error)
      }
      return false
    }
  }
}
