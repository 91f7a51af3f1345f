internal import ArborModel
internal import Dispatch

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
