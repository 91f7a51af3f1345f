internal import ArborLocks
internal import Dispatch
internal import LMDB

/// Notifies listeners when a store has new commits or is migrated, and tracks which commits this
/// process has made.
///
/// ```
/// a commit here ──────────────────────────────▶ announce ──▶ listeners look at the history
/// a commit elsewhere ──▶ write to the file ──▶ look ──▶ announce
/// ```
///
/// The file is only watched while there are listeners. Without listeners, a commit only takes the
/// lock twice.
///
/// This signal of the store layer has no payload. `StoreObservers` listens to it once per store and
/// forwards it; `StoreChanges` then reads the history and creates a `CommittedChanges` for each
/// commit.
package final class CommitNotifications: Sendable {
  private struct State {
    var listeners: [Int: @Sendable () -> Void] = [:]
    var nextID = 0
    /// The newest sequence number that has been announced.
    var announced: UInt64 = 0
    /// The model state that has been announced.
    var announcedModel: ModelState?
    var watch: FileWatch?
    var own = OwnCommits()
  }

  private let state = Lock(State())
  /// The maximum number of attempts to read a transaction after a write to the file. It becomes
  /// visible within microseconds, unless its writer is stopped or killed at that moment.
  private static let maximumAttempts = 10

  init() {}

  // MARK: Listening

  /// Calls `notify` after new commits, and after changes of ``StoreEngine/modelState``, until the
  /// listener is removed. `notify` may run on any thread, including the committing one, so it must
  /// be quick and not hold locks for long. The first call may be for a commit that was made shortly
  /// before.
  ///
  /// - Returns: A token for ``remove(_:)``.
  package func listen(to store: StoreEngine, _ notify: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextID += 1
      // Existing listeners may not have been notified of the newest commit yet.
      if state.listeners.isEmpty {
        state.announced = max(state.announced, store.lastSequence)
        state.announcedModel = store.modelState
      }
      state.listeners[state.nextID] = notify
      if state.watch == nil { state.watch = Self.watch(store) }
      return state.nextID
    }
  }

  private static func watch(_ store: StoreEngine) -> FileWatch? {
    guard let path = store.path else { return nil }
    return FileWatch(path: path) { [weak store] in store?.lookForCommits() }
  }

  /// Watches the file that has replaced the former one, if there are listeners.
  func watchReplacement(_ store: StoreEngine) {
    let former = state.withLock { state -> FileWatch? in
      guard let former = state.watch else { return nil }
      state.watch = Self.watch(store)
      return former
    }
    former?.cancel()
    // A commit may have happened before the watch began.
    if former != nil { store.lookForCommits() }
  }

  /// Removes a listener that ``listen(to:_:)`` added.
  package func remove(_ listener: Int) {
    let watch = state.withLock { state -> FileWatch? in
      state.listeners[listener] = nil
      guard state.listeners.isEmpty else { return nil }
      defer { state.watch = nil }
      return state.watch
    }
    watch?.cancel()
  }

  /// Notifies the listeners if there is anything new.
  func announce(_ store: StoreEngine) {
    let listeners = state.withLock { state -> [@Sendable () -> Void] in
      guard !state.listeners.isEmpty else { return [] }
      let (newest, model) = (store.lastSequence, store.modelState)
      guard newest > state.announced || model != state.announcedModel else { return [] }
      state.announced = max(state.announced, newest)
      state.announcedModel = model
      return Array(state.listeners.values)
    }
    for notify in listeners { notify() }
  }

  /// Looks for commits of other processes after a write to the file.
  ///
  /// LMDB writes a transaction's root page first and makes the transaction visible to readers right
  /// after that. If the transaction is not visible yet or the store can't be read at the moment,
  /// tries again with exponentially growing delays.
  func look(at store: StoreEngine, attempt: Int = 0) {
    guard !store.hasEnded, let written = try? store.environment.lastTransactionID else { return }
    let seen = store.lookAtNewest()
    announce(store)
    guard seen.map({ $0 < written }) ?? true, attempt < Self.maximumAttempts else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1 << attempt)) {
      [weak store] in
      store?.lookForCommits(attempt: attempt + 1)
    }
  }

  // MARK: Own commits

  /// Returns whether a commit was made by this process. `false` for commits that are too old to be
  /// tracked.
  package func isOwn(_ sequence: UInt64) -> Bool { state.withLock { $0.own.contains(sequence) } }

  /// Records the commits that a transaction of this process is about to make, before they become
  /// visible.
  func willWrite(_ sequences: Range<UInt64>) {
    guard !sequences.isEmpty else { return }
    state.withLock { $0.own.add(sequences) }
  }

  /// Undoes ``willWrite(_:)`` after the transaction has failed.
  func didNotWrite(_ sequences: Range<UInt64>) {
    guard !sequences.isEmpty else { return }
    state.withLock { $0.own.remove(sequences) }
  }
}

/// The commits of this process that are still in the history, as disjoint, nonadjacent ranges.
struct OwnCommits {
  private(set) var ranges: [Range<UInt64>] = []

  func contains(_ sequence: UInt64) -> Bool { ranges.contains { $0.contains(sequence) } }

  /// Adds commits, which must follow or extend the most recent ones.
  mutating func add(_ sequences: Range<UInt64>) {
    if let last = ranges.last, sequences.lowerBound <= last.upperBound {
      ranges[ranges.count - 1] =
        min(last.lowerBound, sequences.lowerBound)..<max(last.upperBound, sequences.upperBound)
    } else {
      ranges.append(sequences)
    }
    let oldest = sequences.upperBound.subtractingReportingOverflow(StoreFormat.maximumHistoryLength)
    if !oldest.overflow, let first = ranges.first, first.upperBound <= oldest.partialValue {
      ranges.removeAll { $0.upperBound <= oldest.partialValue }
    }
  }

  /// Removes the most recently added commits.
  mutating func remove(_ sequences: Range<UInt64>) {
    guard let last = ranges.popLast() else { return }
    let kept = last.clamped(to: 0..<sequences.lowerBound)
    if !kept.isEmpty { ranges.append(kept) }
  }
}

extension StoreEngine {
  /// Checks whether other processes have committed, after an indication that they may have, and
  /// notifies the listeners of ``notifications``.
  package func lookForCommits(attempt: Int = 0) { notifications.look(at: self, attempt: attempt) }
}
