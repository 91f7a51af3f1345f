internal import ArborLocks
internal import ArborStore

/// The signals of observers that wait for a store's commits. They are raised after every commit,
/// whether by this process or another, and when the store is closed.
///
/// The sequences of ``PersistentStore/changes`` share one signal, which ends with the store.
/// Observers of fetched results have their own.
///
/// This is the link between the engine and the sequences: while there are signals, it listens to
/// the engine's `CommitNotifications`. It doesn't know what was committed; ``StoreChanges`` reads
/// that, as a series of ``CommittedChanges``.
final class StoreObservers: Sendable {
  let engine: StoreEngine
  let bell = AsyncSignal()
  private let state = Lock(State())

  private struct State {
    var bells: [Int: AsyncSignal] = [:]
    var nextID = 0
    /// The ID of the listener registered with the engine, or `nil` if there are no signals.
    var listener: Int?
  }

  init(_ engine: StoreEngine) { self.engine = engine }

  /// Ends all sequences of commits and wakes all other observers, because the store is closed.
  func end() {
    bell.end()
    ring()
  }

  private func ring() {
    // Most observers share a signal, which has to be raised only once.
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

/// A registration of a signal for a store's commits, which ends when the object is deallocated.
/// Doesn't keep the store open.
final class StoreListening: Sendable {
  let observers: StoreObservers
  private let id: Int

  init(_ observers: StoreObservers, ringing bell: AsyncSignal) {
    self.observers = observers
    id = observers.add(bell)
  }

  deinit { observers.remove(id) }
}

/// The starting point of a sequence of a store's commits, with a registration for later ones.
final class StoreFollower: Sendable {
  var observers: StoreObservers { listening.observers }
  private let listening: StoreListening
  /// The sequence of the commit before the first one of the sequence.
  let start: UInt64

  /// - Parameter sequence: The sequence of the commit to start after, or `nil` for the newest one.
  init(_ observers: StoreObservers, since sequence: UInt64? = nil) {
    listening = StoreListening(observers, ringing: observers.bell)
    // From here on no commit is missed, so all existing commits are earlier ones.
    observers.engine.lookForCommits()
    start = sequence ?? observers.engine.lastSequence
  }
}
