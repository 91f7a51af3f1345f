internal import ArborLocks
internal import Dispatch
internal import LMDB

/// Tells listeners when a store has got new commits or is migrated, and remembers which of the
/// commits are this process's.
///
/// ```
/// a commit here ──────────────────────────────▶ announce ──▶ listeners look at the history
/// a commit elsewhere ──▶ write to the file ──▶ look ──▶ announce
/// ```
///
/// The file is watched while somebody listens. Without listeners a transaction costs one lock.
///
/// This is the store layer's signal and says only that something happened. `StoreObservers` listens
/// to it once per store and passes it on; `StoreChanges` then reads the history and makes a
/// `CommittedChanges` of each commit.
package final class CommitNotifications: Sendable {
  private struct State {
    var listeners: [Int: @Sendable () -> Void] = [:]
    var nextID = 0
    /// The newest sequence that listeners were told of.
    var announced: UInt64 = 0
    /// What they were told of the model.
    var announcedModel: ModelState?
    var watch: FileWatch?
    var own = OwnCommits()
  }

  private let state = Lock(State())
  /// After a write to the file its transaction shows within microseconds, except where its writer
  /// is stopped or killed just then.
  private static let mostLooks = 10

  init() {}

  // MARK: Listening

  /// Calls `notify` after new commits, and after changes of ``StoreEngine/modelState``, until the
  /// listener is removed: on the thread of a commit or on another one, so it must be quick and lock
  /// nothing for long. The first call may be for a commit that came shortly before.
  ///
  /// - Returns: What ``remove(_:from:)`` takes.
  package func listen(to store: StoreEngine, _ notify: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextID += 1
      // Code that listens already may not have been told of the newest commit yet.
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

  /// Watches the file that has taken the place of the former one, if somebody listens.
  func watchAnew(_ store: StoreEngine) {
    let former = state.withLock { state -> FileWatch? in
      guard let former = state.watch else { return nil }
      state.watch = Self.watch(store)
      return former
    }
    former?.cancel()
    // A commit may have come before the watch.
    if former != nil { store.lookForCommits() }
  }

  /// Ends what ``listen(to:_:)`` began.
  package func remove(_ listener: Int) {
    let watch = state.withLock { state -> FileWatch? in
      state.listeners[listener] = nil
      guard state.listeners.isEmpty else { return nil }
      defer { state.watch = nil }
      return state.watch
    }
    watch?.cancel()
  }

  /// Tells the listeners if there is anything that they have not been told of.
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
  /// LMDB writes a transaction's root page first and shows the transaction to readers right after:
  /// a process that looks in between looks again soon, and so does one that cannot look just
  /// then.
  func look(at store: StoreEngine, attempt: Int = 0) {
    guard !store.hasEnded, let written = try? store.environment.lastTransactionID else { return }
    let seen = store.lookAtNewest()
    announce(store)
    guard seen.map({ $0 < written }) ?? true, attempt < Self.mostLooks else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1 << attempt)) {
      [weak store] in
      store?.lookForCommits(attempt: attempt + 1)
    }
  }

  // MARK: Whose commits

  /// Whether this process has made a commit; false for those too old to be remembered.
  package func isOwn(_ sequence: UInt64) -> Bool { state.withLock { $0.own.contains(sequence) } }

  /// Notes which commits a transaction of this process is about to make, before anybody can see
  /// them.
  func willWrite(_ sequences: Range<UInt64>) {
    guard !sequences.isEmpty else { return }
    state.withLock { $0.own.add(sequences) }
  }

  /// Takes ``willWrite(_:)`` back: the transaction failed.
  func didNotWrite(_ sequences: Range<UInt64>) {
    guard !sequences.isEmpty else { return }
    state.withLock { $0.own.remove(sequences) }
  }
}

/// The commits of this process among those that the history still has, as ranges that do not touch.
struct OwnCommits {
  private(set) var ranges: [Range<UInt64>] = []

  func contains(_ sequence: UInt64) -> Bool { ranges.contains { $0.contains(sequence) } }

  /// Adds commits above or at the end of those before.
  mutating func add(_ sequences: Range<UInt64>) {
    if let last = ranges.last, sequences.lowerBound <= last.upperBound {
      ranges[ranges.count - 1] =
        min(last.lowerBound, sequences.lowerBound)..<max(last.upperBound, sequences.upperBound)
    } else {
      ranges.append(sequences)
    }
    let oldest = sequences.upperBound.subtractingReportingOverflow(StoreFormat.longestHistory)
    if !oldest.overflow, let first = ranges.first, first.upperBound <= oldest.partialValue {
      ranges.removeAll { $0.upperBound <= oldest.partialValue }
    }
  }

  /// Removes the last ones.
  mutating func remove(_ sequences: Range<UInt64>) {
    guard let last = ranges.popLast() else { return }
    let kept = last.clamped(to: 0..<sequences.lowerBound)
    if !kept.isEmpty { ranges.append(kept) }
  }
}

extension StoreEngine {
  /// Looks whether others have committed, after a sign that they may have, and tells those who
  /// listen to ``notifications``.
  package func lookForCommits(attempt: Int = 0) { notifications.look(at: self, attempt: attempt) }
}
