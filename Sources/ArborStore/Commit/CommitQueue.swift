internal import ArborLocks
internal import ArborModel
internal import Dispatch
internal import Foundation
internal import LMDB

/// The change sets that wait to be written, and which thread writes them.
///
/// ```
/// thread A   submit ── leads: begins, writes A's set … and those that came meanwhile ── commit
/// thread B        submit ── waits ──────────────────────────────────────────────── result
/// thread C             submit ── waits ───────────────────────────────────────────── result
/// ```
///
/// A thread that finds no leader leads, with a transaction that begins and ends there.
/// One wait for the disk serves everybody whose set is in it. When it is done it hands the lead to
/// the first of those that came too late.
///
/// Where several have committed at about the same time, a leader waits a moment for as many before
/// it goes to the disk: those of the last transaction have only just gone on, and without it the
/// transactions of two halves would take turns. A thread that commits alone waits for no others.
final class CommitQueue: Sendable {
  private struct State {
    var waiting: [CommitTicket] = []
    var hasLeader = false
    /// The number of commits at about the same time: those of the last transaction and those that
    /// came too late for it.
    var recentCommitters = 0
    /// What the last transaction took once its sets were written, in nanoseconds.
    var diskTime: UInt64 = 0
    /// The leader that waits for more, and how many have to be there to wake it.
    var gathering: (leader: CommitTicket, count: Int)?
  }

  private let state = Lock(State())
  private let batch = CommitBatch()

  /// A leader waits at most the time of the disk divided by this; a wait in vain costs as much.
  private static let waitLimitDivisor: UInt64 = 2
  /// Shorter waits than these, in nanoseconds, cost more than the disk they save.
  private static let leastWait: UInt64 = 20_000
  private static let longestWait: UInt64 = 1_000_000

  /// Queues a change set and returns once it has been written or refused.
  func submit(_ set: ChangeSet, to store: StoreEngine) throws(StoreError) -> CommitReceipt {
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
    if !leads {
      store.environment.whileWaiting { ticket.wait() }
      // Woken without a result, it is to lead.
      leads = state.withLock { _ in ticket.result == nil }
    }
    if leads { lead(store, ticket) }
    guard let result = ticket.result else { throw .closed }
    return try result.get()
  }

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
      if found.isEmpty { written = Self.now }
      return found
    }
    let diskTime = written.map { Self.now &- $0 } ?? 0
    let next = state.withLock { state in
      state.recentCommitters = tickets.count + state.waiting.count
      state.diskTime = diskTime
      state.hasLeader = !state.waiting.isEmpty
      return state.waiting.first
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

  /// Waits until as many have come as committed together last, but not for long.
  private func gather(beside taken: Int, _ own: CommitTicket) -> [CommitTicket] {
    let waitLimit = state.withLock { state -> UInt64 in
      let waitLimit = min(state.diskTime / Self.waitLimitDivisor, Self.longestWait)
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

  /// Nanoseconds since some moment, by a clock that nobody sets.
  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// One change set in the queue, and what came of it.
///
/// `@unchecked Sendable`: the submitting thread writes it before it is queued and reads the result
/// after it was woken; in between only the leader uses it. Each takes the queue's lock in between.
final class CommitTicket: @unchecked Sendable {
  let set: ChangeSet
  /// What came of it; nil until then, and where the waiting thread is woken to lead.
  var result: Result<CommitReceipt, StoreError>?
  /// What the submitting thread sleeps on. A thread that commits alone waits for no other and has
  /// none.
  private var wakes: DispatchSemaphore?

  init(_ set: ChangeSet) { self.set = set }

  /// Makes waits possible. Under the queue's lock, before anybody can wake it.
  func prepareToWait() {
    if wakes == nil { wakes = DispatchSemaphore(value: 0) }
  }

  /// Waits for one waking, which may have come before.
  func wait() { wakes?.wait() }

  /// Waits for one waking, or until so many nanoseconds have passed.
  func wait(atMost nanoseconds: UInt64) {
    _ = wakes?.wait(timeout: .now() + .nanoseconds(Int(nanoseconds)))
  }

  func wake() { wakes?.signal() }
}
