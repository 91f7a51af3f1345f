internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A thread of this process, as a number that can be compared.
struct ThreadID: Sendable, Equatable {
  private let number: UInt

  @inline(__always)
  static var current: ThreadID {
    #if canImport(Glibc)
      ThreadID(number: UInt(pthread_self()))
    #else
      ThreadID(number: UInt(bitPattern: pthread_self()))
    #endif
  }
}

/// Notices that this process is a forked copy of another one.
///
/// LMDB lets a child use an inherited environment and corrupts the file by it. Asking for the
/// process number at every begin would cost a system call, so a handler counts the forks instead.
enum ForkGuard {
  private static let forks: Atomic<Int> = Atomic(0)
  private static let isInstalled: Bool =
    pthread_atfork(nil, nil, { ForkGuard.forks.add(1, ordering: .relaxed) }) == 0

  /// Grows in a child; compare it with the value kept when a resource was made.
  @inline(__always)
  static var generation: Int { forks.load(ordering: .relaxed) }

  /// Starts counting. Cheap after the first call.
  static func install() { _ = isInstalled }
}

/// Lets threads sleep until something has changed, without losing a change between the look and
/// the sleep: take the token, look, then wait for a newer one.
///
/// `@unchecked Sendable`: the count is read and written under the POSIX mutex only.
final class EventCount: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var count: UInt64 = 0

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// The present count, to be given to `wait`.
  var token: UInt64 {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return count
  }

  /// Wakes all waiters.
  func notify() {
    pthread_mutex_lock(mutex)
    count &+= 1
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Sleeps until the count is newer than `token`, or the time of day passes `deadline`; false
  /// then.
  func wait(past token: UInt64, until deadline: timespec?) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while count == token {
      if var deadline {
        if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
          return count != token
        }
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
    return true
  }

  /// The time of day in `seconds` seconds.
  static func deadline(in seconds: Double) -> timespec {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let whole = seconds.rounded(.down)
    let nanoseconds = now.tv_nsec + Int((seconds - whole) * 1e9)
    now.tv_sec += Int(whole) + nanoseconds / 1_000_000_000
    now.tv_nsec = nanoseconds % 1_000_000_000
    return now
  }
}
