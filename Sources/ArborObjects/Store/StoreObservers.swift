internal import ArborLocks
internal import ArborStore

/// Rings the bells of those who wait for a store's commits: after every commit, of this process or
/// another, and when the store is closed.
///
/// The sequences of ``PersistentStore/changes`` sleep at one bell, which ends with the store; the
/// followers of fetched results at their own.
///
/// It stands between the engine and the sequences: while there are bells it listens to the engine's
/// `CommitNotifications`. It does not say what was committed; ``StoreChanges`` reads that, as one
/// ``CommittedChanges`` after the other.
final class StoreObservers: Sendable {
  let engine: StoreEngine
  let bell = AsyncSignal()
  private let state = Lock(State())

  private struct State {
    var bells: [Int: AsyncSignal] = [:]
    var nextID = 0
    /// What the file knows this by; nil while nobody listens.
    var listener: Int?
  }

  init(_ engine: StoreEngine) { self.engine = engine }

  /// Ends all sequences of commits and wakes everybody else: the store is closed.
  func end() {
    bell.end()
    ring()
  }

  private func ring() {
    // Most share one bell; it need not ring for each of them.
    let bells = state.withLock { state in
      Array(Dictionary(state.bells.values.map { (ObjectIdentifier($0), $0) }) { $1 }.values)
    }
    for bell in bells { bell.ring() }
  }

  fileprivate func add(_ bell: AsyncSignal) -> Int {
    state.withLock { state in
      state.nextID += 1
      state.bells[state.nextID] = bell
      if state.listener == nil {
        state.listener = engine.notifications.listen(to: engine) { [weak self] in self?.ring() }
      }
      return state.nextID
    }
  }

  fileprivate func remove(_ id: Int) {
    let listener = state.withLock { state -> Int? in
      state.bells[id] = nil
      guard state.bells.isEmpty else { return nil }
      defer { state.listener = nil }
      return state.listener
    }
    if let listener { engine.notifications.remove(listener) }
  }
}

/// Keeps a bell ringing after a store's commits for as long as it lives. It does not keep the store
/// open.
final class StoreListening: Sendable {
  let observers: StoreObservers
  private let id: Int

  init(_ observers: StoreObservers, ringing bell: AsyncSignal) {
    self.observers = observers
    id = observers.add(bell)
  }

  deinit { observers.remove(id) }
}

/// One sequence of a store's commits, from the moment it was asked for.
final class StoreFollower: Sendable {
  var observers: StoreObservers { listening.observers }
  private let listening: StoreListening
  /// The newest commit at that moment.
  let start: UInt64

  init(_ observers: StoreObservers) {
    listening = StoreListening(observers, ringing: observers.bell)
    // From here on no commit is missed, so whatever is there by now came before.
    observers.engine.lookForCommits()
    start = observers.engine.lastSequence
  }
}
