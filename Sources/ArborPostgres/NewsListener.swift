internal import ArborLocks
internal import Foundation

/// A listener for new entries of a log. It has its own thread and connection, which exist while a
/// stream is iterated.
final class NewsListener: Sendable {
  /// The channel of all logs in a database. The payload identifies the log.
  static let channel = "arbor_log"

  private struct State {
    var streams: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
    var isListening = false
    var isStopped = false
    /// The semaphore that is signaled when the most recently started thread has ended, or `nil` if
    /// none was started.
    var ended: DispatchSemaphore?
  }

  /// The interval at which the thread checks whether to end.
  private static let interval = Duration.milliseconds(100)
  private static let waitLimit = Duration.seconds(5)

  private let pool: ConnectionPool
  private let payload: String
  private let state = Lock(State())

  init(_ pool: ConnectionPool, _ payload: String) {
    self.pool = pool
    self.payload = payload
  }

  /// Returns a stream that yields when the log may have new entries. Buffers one element.
  func news() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (number, begun) = state.withLock { state -> (Int?, DispatchSemaphore?) in
      guard !state.isStopped else { return (nil, nil) }
      state.next += 1
      state.streams[state.next] = continuation
      guard !state.isListening else { return (state.next, nil) }
      state.isListening = true
      let ended = DispatchSemaphore(value: 0)
      state.ended = ended
      return (state.next, ended)
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    if let begun {
      let thread = Thread {
        self.listen()
        begun.signal()
      }
      thread.name = "arbor.postgres.listener"
      thread.start()
    }
    return stream
  }

  func stop() {
    let streams = state.withLock { state in
      state.isStopped = true
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    // Outside the lock, because the termination handler of a stream acquires it.
    for stream in streams { stream.finish() }
  }

  /// Whether the listening thread is running.
  var isListening: Bool { state.withLock(\.isListening) }

  /// Waits until the thread has ended if no stream is being iterated.
  func waitUntilIdle() {
    let ended = state.withLock { $0.streams.isEmpty ? $0.ended : nil }
    ended?.wait()
    // Wakes the next waiting caller, if there is one.
    ended?.signal()
  }

  /// Returns whether no stream is being iterated, in which case the thread ends.
  private func isIdle() -> Bool {
    state.withLock { state in
      if state.streams.isEmpty { state.isListening = false }
      return !state.isListening
    }
  }

  private func listen() {
    var pause = 0.05
    while !isIdle() {
      do throws(PostgresFailure) {
        let connection = try pool.open(until: Deadline(Self.waitLimit))
        _ = try connection.run(
          [PostgresStatement("LISTEN \(Self.channel)")], deadline: Deadline(Self.waitLimit))
        // Earlier notifications may have been missed.
        tell()
        pause = 0.05
        while !isIdle() {
          if try connection.notifications(until: Deadline(Self.interval)).contains(payload) {
            tell()
          }
        }
      } catch {
        Thread.sleep(forTimeInterval: pause)
        pause = min(2 * pause, 1)
      }
    }
  }

  private func tell() {
    let streams = state.withLock { Array($0.streams.values) }
    for stream in streams { stream.yield() }
  }
}
