internal import ArborLocks

/// What is known about the file of an open store to be damaged.
///
/// Once something was found the store is suspect: the next operation that may fail reports it,
/// writing is refused from then on, and reading may go on.
final class PageHealth: Sendable {
  private struct State {
    var finding: StoreError?
    /// Who is told of it, once.
    var observer: (@Sendable (StoreError) -> Void)?
  }

  private let state = Lock(State())
  /// Whether there is a finding. Written under the lock.
  private let isSuspect = Atomic(false)
  /// Whether nobody has heard of it. Written under the lock: one caller hears of it, and no more.
  private let hasNews = Atomic(false)

  var finding: StoreError? {
    isSuspect.load(ordering: .acquiring) ? state.withLock { $0.finding } : nil
  }

  /// Remembers what was found first.
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

  /// Lets `observer` be told what is found first, at once where it was; the first that asks for it.
  func observe(_ observer: @escaping @Sendable (StoreError) -> Void) {
    let finding = state.withLock { state -> StoreError? in
      guard state.observer == nil else { return nil }
      state.observer = observer
      return state.finding
    }
    if let finding { observer(finding) }
  }

  /// Throws a finding that nobody has heard of. One atomic load otherwise.
  @inline(__always)
  func report() throws(StoreError) {
    if hasNews.load(ordering: .relaxed), let news = takeNews() { throw news }
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
}
