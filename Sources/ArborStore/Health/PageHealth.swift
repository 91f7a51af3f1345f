internal import ArborLocks

/// The known damage of an open store's file.
///
/// Once damage is found, the store is suspect: the next throwing operation reports it, writing is
/// rejected from then on, and reading continues.
final class PageHealth: Sendable {
  private struct State {
    var finding: StoreError?
    /// The observer, which is called once.
    var observer: (@Sendable (StoreError) -> Void)?
  }

  private let state = Lock(State())
  /// Whether there is a finding. Written under the lock.
  private let isSuspect = Atomic(false)
  /// Whether the finding has not been reported yet. Written under the lock, so that exactly one
  /// caller reports it.
  private let hasNews = Atomic(false)

  var finding: StoreError? {
    isSuspect.load(ordering: .acquiring) ? state.withLock { $0.finding } : nil
  }

  /// Records a finding unless there is one already.
  func note(_ error: StoreError) {
    let observer = state.withLock { state -> (@Sendable (StoreError) -> Void)? in
      guard state.finding == nil else { return nil }
      state.finding = error
      hasNews.store(true, ordering: .releasing)
      isSuspect.store(true, ordering: .releasing)
      return state.observer
    }
    observer?(error)
  }

  /// Registers the observer of the first finding, which is called immediately if there already is
  /// one. Only the first observer is registered.
  func observe(_ observer: @escaping @Sendable (StoreError) -> Void) {
    let finding = state.withLock { state -> StoreError? in
      guard state.observer == nil else { return nil }
      state.observer = observer
      return state.finding
    }
    if let finding { observer(finding) }
  }

  /// Throws a finding that has not been reported yet. Costs a single atomic load otherwise.
  @inline(__always)
  func report() throws(StoreError) {
    if hasNews.load(ordering: .relaxed), let news = takeNews() { throw news }
  }

  private func takeNews() -> StoreError? {
    state.withLock { state in
      hasNews.exchange(false, ordering: .acquiringAndReleasing) ? state.finding : nil
    }
  }

  /// Throws if there is a finding, because a damaged file must not be written to.
  func permitWriting() throws(StoreError) {
    guard let finding else { return }
    _ = takeNews()
    throw finding
  }
}
