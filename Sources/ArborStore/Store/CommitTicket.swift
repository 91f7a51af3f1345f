internal import ArborModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One change set in the queue, and what came of it.
///
/// `@unchecked Sendable`: the submitting thread writes it before it is queued and reads the result
/// after it was woken; in between only the leader uses it. The queue's lock and the mutex here
/// order these.
final class CommitTicket: @unchecked Sendable {
  let set: ChangeSet
  /// What came of it; nil until then, and where the waiting thread is woken to lead.
  var result: Result<CommitReceipt, StoreError>?

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isAwake = false

  init(_ set: ChangeSet) {
    self.set = set
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func wait() {
    pthread_mutex_lock(mutex)
    while !isAwake { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }

  func wake() {
    pthread_mutex_lock(mutex)
    isAwake = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }
}
