internal import ArborModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One change set in the queue, and what came of it.
///
/// `@unchecked Sendable`: the submitting thread writes it before it is queued and reads the result
/// after it was woken; in between only the leader uses it. The queue's lock and the bell order
/// these.
final class CommitTicket: @unchecked Sendable {
  let set: ChangeSet
  /// What came of it; nil until then, and where the waiting thread is woken to lead.
  var result: Result<CommitReceipt, StoreError>?
  /// Who commits alone waits for nobody and has none.
  private var bell: Bell?

  init(_ set: ChangeSet) { self.set = set }

  /// Makes the next wait wait. Under the queue's lock, before anybody can wake it.
  func prepareToWait() {
    if let bell { bell.rest() } else { bell = Bell() }
  }

  func wait() { bell?.wait() }

  /// Waits until it is woken, or so many nanoseconds have passed.
  func wait(atMost nanoseconds: UInt64) { bell?.wait(atMost: nanoseconds) }

  func wake() { bell?.ring() }
}

/// Wakes one thread that waits for it.
///
/// `@unchecked Sendable`: the mutex guards what it holds.
private final class Bell: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var hasRung = false

  init() {
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // Whoever sets the time of day makes nobody wait longer.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func rest() {
    pthread_mutex_lock(mutex)
    hasRung = false
    pthread_mutex_unlock(mutex)
  }

  func ring() {
    pthread_mutex_lock(mutex)
    hasRung = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func wait() {
    pthread_mutex_lock(mutex)
    while !hasRung { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }

  func wait(atMost nanoseconds: UInt64) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    #if canImport(Darwin)
      var time = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds, 999_999_999)))
      while !hasRung, pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0 {}
    #else
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      let total = end.tv_nsec + Int(min(nanoseconds, 999_999_999))
      end.tv_sec += total / 1_000_000_000
      end.tv_nsec = total % 1_000_000_000
      while !hasRung, pthread_cond_timedwait(condition, mutex, &end) == 0 {}
    #endif
  }
}
