internal import ArborLocks
internal import Foundation
internal import ArborModel
internal import LMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What is known about the pages of an open store, and the verification that goes on behind it.
///
/// Once something was found the store is suspect: the next operation that may fail reports it,
/// writing is refused from then on, and reading may go on.
final class PageHealth: Sendable {
  private struct State {
    var finding: StoreError?
    /// Signalled when the verification behind the store has ended; nil where none goes on.
    var ended: DispatchSemaphore?
  }

  private let state = Lock(State())
  private let isCancelled = Atomic(false)
  /// Whether there is a finding. Written under the lock.
  private let isSuspect = Atomic(false)
  /// Whether nobody has heard of it. Written under the lock: one caller hears of it, and no more.
  private let hasNews = Atomic(false)

  /// The finding, if there is one.
  var finding: StoreError? {
    isSuspect.load(ordering: .acquiring) ? state.withLock { $0.finding } : nil
  }

  /// Remembers what was found first.
  func note(_ error: StoreError) {
    state.withLock { state in
      guard state.finding == nil else { return }
      state.finding = error
      hasNews.store(true, ordering: .releasing)
      isSuspect.store(true, ordering: .releasing)
    }
  }

  /// Throws a finding that nobody has heard of. One atomic load otherwise.
  @inline(__always)
  func report() throws(StoreError) {
    if hasNews.load(ordering: .relaxed) { try reportNews() }
  }

  private func reportNews() throws(StoreError) {
    if let news = takeNews() { throw news }
  }

  private func takeNews() -> StoreError? {
    state.withLock { state in
      hasNews.exchange(false, ordering: .acquiringAndReleasing) ? state.finding : nil
    }
  }

  /// Throws where something was found: what is damaged must not be written to.
  func permitWriting() throws(StoreError) {
    guard let finding else { return }
    _ = takeNews()
    throw finding
  }

  // MARK: Behind the store

  /// Verifies the pages on a thread of low priority, which neither the closing of the store nor the
  /// end of the process waits for.
  func verifyInBackground(
    _ environment: Environment, expecting names: [String: DatabaseFlags],
    allowing allowed: Set<String>
  ) {
    let ended = DispatchSemaphore(value: 0)
    state.withLock { $0.ended = ended }
    Thread.detachNewThread { [self] in
      #if canImport(Glibc)
        // On Linux this concerns the calling thread alone.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      #endif
      do throws(LMDBError) {
        try environment.verifyPages(expecting: names, allowing: allowed) { [self] in
          isCancelled.load(ordering: .relaxed)
        }
      } catch {
        // What kept it from reading will meet whoever reads.
        if case .damaged = error { note(StoreError(error)) }
      }
      state.withLock { $0.ended = nil }
      ended.signal()
    }
  }

  /// Waits for the end of the verification behind the store, if one goes on.
  func waitForEnd() {
    guard let ended = state.withLock({ $0.ended }) else { return }
    ended.wait()
    ended.signal()
  }

  /// Ends the verification behind the store, which looks at every page whether it may go on: its
  /// snapshot must not keep the file open.
  func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    waitForEnd()
  }
}

extension StoreFile {
  /// The databases that the file has to consist of.
  private var expectedDatabases: [String: DatabaseFlags] {
    var list = StoreDatabases.list(schema)
    // A file of an earlier format, opened for reading only, has no large binaries.
    if schema.entities.allSatisfy({ databases.blobs($0.index) == nil }) {
      list.removeLast(StoreDatabases.blobList(schema).count)
    }
    return Dictionary(list.map { ($0.name, $0.flags) }) { first, _ in first }
  }

  /// The databases that may be there: the log, and what is kept for the sake of the way back to a
  /// former model.
  var allowedDatabases: Set<String> {
    var names: Set<String> = [StoreFormat.logDatabase]
    for entry in schema.catalog.entries.values {
      names.insert(StoreFormat.recordDatabase(entry.storedName))
      names.insert(StoreFormat.blobDatabase(entry.storedName))
      for part in entry.relationships.values {
        names.insert(StoreFormat.relationshipDatabase(part.storedName))
        names.insert(StoreFormat.orderDatabase(part.storedName))
      }
    }
    return names
  }

  /// Begins the verification behind the store.
  func verifyInBackground() {
    health.verifyInBackground(
      environment, expecting: expectedDatabases, allowing: allowedDatabases)
  }

  /// Verifies the pages of the newest commit; what is found makes the store suspect.
  func verifyPages(_ limit: WorkLimit) throws(StoreError) {
    if let finding = health.finding { throw finding }
    do throws(LMDBError) {
      try environment.verifyPages(expecting: expectedDatabases, allowing: allowedDatabases) {
        !limit.admit()
      }
    } catch {
      if let interruption = limit.interruption { throw .interrupted(interruption) }
      if case .damaged = error { health.note(StoreError(error)) }
      throw StoreError(error, path: path)
    }
  }
}
