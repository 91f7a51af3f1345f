internal import ArborModel
internal import LMDB

/// How much of an existing file is verified, and when.
///
/// - `quick`: root pages, header and databases.
/// - `automatic`: the same. Where that meets damage, all pages are verified for the sake of a
///   precise error. The file is scrubbed behind the open store, at once where the last writer may
///   have died with its machine, else where the last scrub is long ago; see ``StoreScrub``.
/// - `full`: all pages before the file is mapped, then the store check; then as `automatic`.
extension StoreOpener {
  /// The finding of a verification of all pages, where that says more than an error of opening.
  ///
  /// A verification that ended because the task was cancelled says so.
  func explained(_ error: StoreError, _ path: String) -> StoreError {
    if case .closed = error, Task<Never, Never>.isCancelled { return .interrupted(.cancelled) }
    guard error.isCorruption, opening.verification != .quick else { return error }
    do throws(LMDBError) {
      try Environment.verifyPages(path: path)
      return error
    } catch {
      if case .damaged = error { return StoreError(error) }
    }
    return error
  }

  /// Does what the options ask of a store that was opened just now.
  func verify(_ store: StoreEngine) throws(StoreError) {
    if !store.wasWrittenSinceBoot { try store.settleAfterStop() }
    switch opening.verification {
    case .quick: break
    case .automatic: try store.scrubInBackground(after: opening.scrubInterval)
    case .full:
      if let problem = try store.check().problems.first {
        throw .corrupted(
          entity: problem.entity, object: problem.object, what: problem.description)
      }
      try store.scrubInBackground(after: opening.scrubInterval)
    }
  }
}
