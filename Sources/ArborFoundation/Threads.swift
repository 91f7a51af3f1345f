internal import Dispatch

/// Runs a closure on a new thread. On Linux, the thread has low priority.
package func detachThread(_ body: @escaping @Sendable () -> Void) {
  // Sound: the thread takes over the retained body, or it is released below if there is no thread.
  let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    let error = pthread_create(&thread, nil, { ThreadBody.run($0) }, context)
  #else
    var thread = pthread_t()
    let error = pthread_create(&thread, nil, { $0.flatMap { ThreadBody.run($0) } }, context)
  #endif
  guard error == 0 else {
    // The system has no thread left; the pool may have one.
    DispatchQueue.global().async(execute: body)
    return Unmanaged<ThreadBody>.fromOpaque(context).release()
  }
  #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
  #else
    pthread_detach(thread)
  #endif
}

private final class ThreadBody: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    #if canImport(Glibc)
      // On Linux, this affects only the calling thread.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
    Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
    return nil
  }
}
