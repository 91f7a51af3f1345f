// Code that imports this module needs no import of `Synchronization` beside it.
@_exported public import Synchronization

#if ARBOR_THREAD_SANITIZER
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// A value that one thread at a time may touch, behind a lock that ThreadSanitizer sees.
  ///
  /// `Mutex` hands a contended lock over by a futex inside of the system's libraries, which no
  /// sanitizer has instrumented: it would report every value that two threads took turns at. It
  /// knows the locks of POSIX. `tools/test --sanitize thread` builds with this one.
  ///
  /// `@unchecked Sendable`: the value is reached through ``withLock(_:)`` alone, as a mutex's is.
  package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
      mutex = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      self.value = .allocate(capacity: 1)
      self.value.initialize(to: value)
    }

    deinit {
      value.deinitialize(count: 1)
      value.deallocate()
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    /// Runs `body` while nobody else can touch the value.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  }
#else
  /// A value that one thread at a time may touch: the standard library's mutex.
  ///
  /// Everything in this package that locks does it by this name, so that builds for
  /// ThreadSanitizer can put a lock in its place that the sanitizer sees; otherwise it is the
  /// mutex itself and costs nothing.
  package typealias Lock<Value: ~Copyable> = Mutex<Value>
#endif
