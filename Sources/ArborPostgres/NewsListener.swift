internal import ArborLocks
internal import Foundation

/// Listens for what others add to a log, on a thread and a connection of its own, while somebody
/// iterates.
final class NewsListener: Sendable {
  /// The channel of all logs of a database; the payload says which one.
  static let channel = "arbor_log"

  private struct State {
    var streams: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
    var isListening = false
    var isStopped = false
    /// Signalled when the thread that began last has ended; nil if there was none.
    var ended: DispatchSemaphore?
  }

  /// How long a stop may go unnoticed.
  private static let interval = Duration.milliseconds(100)
  private static let waitLimit = Duration.seconds(5)

  private let pool: ConnectionPool
  private let payload: String
  private let state = Lock(State())

  init(_ pool: ConnectionPool, _ payload: String) {
    self.pool = pool
    self.payload = payload
  }

  /// A sequence of news, of which only the newest waits to be taken.
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
    // Outside of the lock, which what a stream does at its end takes.
    for stream in streams { stream.finish() }
  }

  /// Whether there is a thread that listens.
  var isListening: Bool { state.withLock(\.isListening) }

  /// Waits until the thread has ended, if nobody iterates any more.
  func waitUntilIdle() {
    let ended = state.withLock { $0.streams.isEmpty ? $0.ended : nil }
    ended?.wait()
    // For others who wait.
    ended?.signal()
  }

  /// Whether nobody iterates any more; the thread ends then.
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
        // What came before cannot be known.
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
