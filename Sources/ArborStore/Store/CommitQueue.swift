internal import ArborModel
internal import LMDB
internal import ArborLocks

/// The change sets that wait to be written, and who writes them.
///
/// ```
/// thread A   submit ── leads: begins, writes A's set … and those that came meanwhile ── commit
/// thread B        submit ── waits ──────────────────────────────────────────────── result
/// thread C             submit ── waits ───────────────────────────────────────────── result
/// ```
///
/// Whoever finds no leader leads, on its own thread, with a transaction that begins and ends there.
/// One wait for the disk serves everybody whose set is in it. When it is done it hands the lead to
/// the first of those who came too late.
final class CommitQueue: Sendable {
  private struct State {
    var waiting: [CommitTicket] = []
    var hasLeader = false
  }

  private let state = Lock(State())
  private let batch = CommitBatch()

  /// Queues a change set and returns once it has been written or refused.
  func submit(_ set: ChangeSet, to store: StoreFile) throws(StoreError) -> CommitReceipt {
    let ticket = CommitTicket(set)
    let leads = state.withLock { state in
      state.waiting.append(ticket)
      if state.hasLeader { return false }
      state.hasLeader = true
      return true
    }
    if !leads { store.environment.whileWaiting { ticket.wait() } }
    // Woken without a result, it is to lead.
    if ticket.result == nil { lead(store) }
    guard let result = ticket.result else { throw .closed }
    return try result.get()
  }

  private func lead(_ store: StoreFile) {
    let tickets = batch.write(to: store) { self.takeWaiting() }
    let next = state.withLock { state in
      state.hasLeader = !state.waiting.isEmpty
      return state.waiting.first
    }
    for ticket in tickets { ticket.wake() }
    next?.wake()
  }

  private func takeWaiting() -> [CommitTicket] {
    state.withLock { state in
      defer { state.waiting.removeAll() }
      return state.waiting
    }
  }
}
