internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import Dispatch
internal import LMDB

/// The queue of change sets, and the election of the thread that writes them (group commit).
///
/// ```
/// thread A   submit ── leads: begins, writes A's set … and those that came meanwhile ── commit
/// thread B        submit ── waits ──────────────────────────────────────────────── result
/// thread C             submit ── waits ───────────────────────────────────────────── result
/// ```
///
/// A thread that finds no leader becomes the leader, and writes all waiting sets in one transaction
/// that begins and ends on it. All of them share one wait for the disk. Then it hands the lead to
/// the first of the threads that came too late.
///
/// Before the leader takes the sets, it passes the gate of the file, where it may have to wait for
/// other processes. Until then, each thread can stop waiting on its own, because of its deadline,
/// cancellation or the timeout, and take its set back. Records of a set that the leader has taken
/// are borrowed until it has been written.
///
/// If several threads have committed at about the same time, the leader waits a moment for as many
/// sets before it commits: the threads of the last transaction have only just continued, and
/// without the wait two halves of them would take turns. A thread that commits alone never waits.
final class CommitQueue: Sendable {
  private struct State {
    var waiting: [CommitTicket] = []
    var hasLeader = false
    /// The number of concurrent commits: those of the last transaction and those that arrived too
    /// late for it.
    var recentCommitters = 0
    /// The time that LMDB took to commit the last transaction, in nanoseconds.
    var diskTime: UInt64 = 0
    /// The leader that waits for more sets, with the number of sets that wakes it, or `nil` if no
    /// leader waits.
    var gathering: (leader: CommitTicket, count: Int)?
  }

  private let state = Lock(State())
  private let batch = CommitBatch()

  /// The divisor of ``State/diskTime`` that yields the maximum wait of a leader. The wait is
  /// limited because no further commit may arrive.
  private static let waitLimitDivisor: UInt64 = 2
  /// The minimum wait in nanoseconds. Shorter waits cost more than they save.
  private static let leastWait: UInt64 = 20_000
  private static let maximumWait: UInt64 = 1_000_000

  /// The interval in nanoseconds at which waiting threads check their limits.
  private static let checkInterval: UInt64 = 20_000_000

  /// Queues a change set and returns once it has been written or rejected.
  func submit(
    _ set: ChangeSet, to store: StoreEngine, _ limit: WorkLimit
  ) throws(StoreError) -> CommitReceipt {
    let ticket = CommitTicket(set)
    var (leads, gatherer) = state.withLock { state -> (Bool, CommitTicket?) in
      state.waiting.append(ticket)
      if !state.hasLeader {
        state.hasLeader = true
        return (true, nil)
      }
      ticket.prepareToWait()
      guard let gathering = state.gathering, state.waiting.count >= gathering.count else {
        return (false, nil)
      }
      state.gathering = nil
      return (false, gathering.leader)
    }
    gatherer?.wake()
    if !leads { leads = try wait(for: ticket, of: store, limit) }
    if leads {
      try enterGate(of: store, ticket, limit)
      defer { store.environment.leaveGate() }
      lead(store, ticket)
    }
    guard let result = ticket.result else { throw .closed }
    return try result.get()
  }

  /// Waits until a set has been written or rejected, or its thread has to lead. Returns whether it
  /// has to lead.
  private func wait(
    for ticket: CommitTicket, of store: StoreEngine, _ limit: WorkLimit
  ) throws(StoreError) -> Bool {
    let start = StoreEngine.now
    while !store.environment.whileWaiting({ ticket.wait(atMost: Self.checkInterval) }) {
      guard let reason = store.reasonToStop(waitingSince: start, limit) else { continue }
      // If the set has already been taken, the work isn't interrupted.
      let isTakenBack = state.withLock { state in
        guard !ticket.isNextLeader,
          let index = state.waiting.firstIndex(where: { $0 === ticket })
        else { return false }
        state.waiting.remove(at: index)
        return true
      }
      if isTakenBack { throw reason }
    }
    // A thread that is woken without a result becomes the leader.
    return state.withLock { _ in ticket.result == nil }
  }

  /// Passes the gate of the file. If that fails, takes the leader's own set back and passes the lead
  /// on.
  private func enterGate(
    of store: StoreEngine, _ own: CommitTicket, _ limit: WorkLimit
  ) throws(StoreError) {
    do throws(StoreError) {
      try store.enterGate(limit)
    } catch {
      let next = state.withLock { state in
        state.waiting.removeAll { $0 === own }
        return Self.passLead(&state)
      }
      next?.wake()
      throw error
    }
  }

  /// Determines the next leader, which the caller has to wake.
  private static func passLead(_ state: inout State) -> CommitTicket? {
    let next = state.waiting.first
    state.hasLeader = next != nil
    next?.isNextLeader = true
    return next
  }

  /// Writes all waiting sets, wakes their threads, and passes the lead on.
  private func lead(_ store: StoreEngine, _ own: CommitTicket) {
    var (taken, hasGathered) = (0, false)
    var written: UInt64?
    let tickets = batch.commitGroup(to: store) {
      var found = self.takeWaiting()
      if found.isEmpty, !hasGathered {
        hasGathered = true
        found = self.gather(beside: taken, own)
      }
      taken += found.count
      if found.isEmpty { written = StoreEngine.now }
      return found
    }
    let diskTime = written.map { StoreEngine.now &- $0 } ?? 0
    let next = state.withLock { state in
      state.recentCommitters = tickets.count + state.waiting.count
      state.diskTime = diskTime
      return Self.passLead(&state)
    }
    for ticket in tickets where ticket !== own { ticket.wake() }
    next?.wake()
  }

  private func takeWaiting() -> [CommitTicket] {
    state.withLock { state in
      defer { state.waiting.removeAll() }
      return state.waiting
    }
  }

  /// Waits a moment for as many sets as were committed together last time.
  private func gather(beside taken: Int, _ own: CommitTicket) -> [CommitTicket] {
    let waitLimit = state.withLock { state -> UInt64 in
      let waitLimit = min(state.diskTime / Self.waitLimitDivisor, Self.maximumWait)
      let gathered = taken + state.waiting.count
      guard state.recentCommitters > gathered, waitLimit >= Self.leastWait else { return 0 }
      own.prepareToWait()
      state.gathering = (own, state.recentCommitters - taken)
      return waitLimit
    }
    guard waitLimit > 0 else { return [] }
    own.wait(atMost: waitLimit)
    state.withLock { $0.gathering = nil }
    return takeWaiting()
  }

}

/// One change set in the queue, and the result of its commit.
///
/// `@unchecked Sendable`: the submitting thread writes it before it is queued and reads the result
/// after it is woken; only the leader uses it in between. The queue's lock orders these accesses.
final class CommitTicket: @unchecked Sendable {
  let set: ChangeSet
  /// The result of the commit, or `nil` until then. A thread that is woken without a result becomes
  /// the leader.
  var result: Result<CommitReceipt, StoreError>?
  /// Whether the submitting thread is about to be woken to lead. Accessed under the queue's lock.
  var isNextLeader = false
  /// The semaphore that the submitting thread waits for, or `nil` if it doesn't wait.
  private var wakes: DispatchSemaphore?

  init(_ set: ChangeSet) { self.set = set }

  /// Makes waiting possible. Called under the queue's lock, before the ticket can be woken.
  func prepareToWait() {
    if wakes == nil { wakes = DispatchSemaphore(value: 0) }
  }

  /// Waits for one ``wake()``, which may already have been called, for at most the given number of
  /// nanoseconds. Returns whether it was woken.
  @discardableResult
  func wait(atMost nanoseconds: UInt64) -> Bool {
    wakes?.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success
  }

  func wake() { wakes?.signal() }
}
