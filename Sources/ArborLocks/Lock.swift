// Re-exported, so that modules that import this one don't have to import `Synchronization` too.
@_exported public import Synchronization

#if ARBOR_THREAD_SANITIZER
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// A mutual-exclusion lock that protects a value and that ThreadSanitizer can observe.
  ///
  /// `Mutex` is implemented with futexes inside system libraries that the sanitizer doesn't
  /// instrument, so ThreadSanitizer would report every value it protects as a data race. It does
  /// understand POSIX mutexes. `tools/test --sanitize thread` builds with this type.
  ///
  /// `@unchecked Sendable`: The value can only be accessed through ``withLock(_:)``, like that of a
  /// `Mutex`.
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

    /// Runs `body` with exclusive access to the value.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  }
#else
  /// A mutual-exclusion lock that protects a value: the standard library's `Mutex`.
  ///
  /// All locking in this package uses this name, so that builds for ThreadSanitizer can substitute
  /// a lock that the sanitizer understands. In all other builds it is `Mutex` itself, at no extra
  /// cost.
  package typealias Lock<Value: ~Copyable> = Mutex<Value>
#endif
