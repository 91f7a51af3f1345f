internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A thread of this process, as a comparable number.
struct ThreadID: Sendable, Equatable {
  let number: UInt

  @inline(__always)
  static var current: ThreadID {
    #if canImport(Glibc)
      ThreadID(number: UInt(pthread_self()))
    #else
      ThreadID(number: UInt(bitPattern: pthread_self()))
    #endif
  }
}

/// Detects whether this process is a fork of another one.
///
/// LMDB lets a child use an inherited environment, which corrupts the file. Checking the process ID
/// each time a transaction begins would cost a system call, so a handler counts forks instead.
enum ForkGuard {
  private static let forks: Atomic<Int> = Atomic(0)
  private static let isInstalled: Bool =
    pthread_atfork(nil, nil, { ForkGuard.forks.add(1, ordering: .relaxed) }) == 0

  /// A number that increases in each forked child process. Compare it with the value stored when a
  /// resource was created.
  @inline(__always)
  static var generation: Int { forks.load(ordering: .relaxed) }

  /// Starts counting. Cheap after the first call.
  static func install() { _ = isInstalled }
}

/// Lets threads wait for a change without missing one between checking and waiting: read the token,
/// check, then wait for a newer one.
///
/// `@unchecked Sendable`: the count is only accessed under the POSIX mutex.
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

  /// The current count, to be passed to `wait`.
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

  /// Waits until the count is newer than `token`. Returns `false` if the time of day passes
  /// `deadline` first.
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

  /// Returns the time of day `seconds` seconds from now.
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
