internal import ArborLocks
internal import ArborLog
internal import ArborModel
internal import ArborStore
internal import Dispatch

/// An object that periodically updates a store from its log.
final class LogWatcher: Sendable {
  /// The progress as of the last update.
  struct Progress: Sendable {
    /// The sequence of the newest commit seen in the log.
    var newest: UInt64 = 0
    /// The error of the last update, or `nil` if it succeeded.
    var problem: ArborError?
  }

  private struct State {
    var progress: Progress
    var hasEnded = false
  }

  private let nanoseconds: Int
  private let look: @Sendable () throws(ArborError) -> UInt64
  private let queue = DispatchQueue(label: "ArborData.follower", qos: .utility)
  private let state: Lock<State>
  private let listener = Lock<Listener?>(nil)
  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

  private struct Listener {
    let task: Task<Void, Never>
    let executor: NewsExecutor
    let ended: DispatchSemaphore
  }

  /// - Parameters:
  ///   - interval: The polling interval.
  ///   - news: A stream that triggers additional updates, or `nil` if the log cannot send
  ///     notifications.
  ///   - progress: The initial progress.
  ///   - look: A closure that updates the store from the log and returns the sequence of the log's
  ///     newest commit.
  init(
    every interval: Duration, news: AsyncStream<Void>? = nil, from progress: Progress = Progress(),
    _ look: @Sendable @escaping () throws(ArborError) -> UInt64
  ) {
    let (seconds, attoseconds) = interval.components
    let (whole, overflows) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    nanoseconds = max(overflows ? .max : whole + Int(attoseconds / 1_000_000_000), 1_000_000)
    self.look = look
    state = Lock(State(progress: progress))
    queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(queue))
    lookLater()
    guard let news else { return }
    let ended = DispatchSemaphore(value: 0)
    let executor = NewsExecutor()
    executor.queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(queue))
    let task = Task.detached(executorPreference: executor) { [weak self] in
      for await _ in news { self?.lookNow() }
      ended.signal()
    }
    listener.withLock { $0 = Listener(task: task, executor: executor, ended: ended) }
  }

  deinit { end() }

  /// Stops the watcher and waits for an update in progress to finish, unless called from within
  /// that update.
  func end() {
    state.withLock { $0.hasEnded = true }
    let listener = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    listener?.task.cancel()
    guard DispatchQueue.getSpecific(key: Self.queueKey) != ObjectIdentifier(queue) else { return }
    queue.sync {}
    listener?.ended.wait()
  }

  var progress: Progress { state.withLock(\.progress) }

  @discardableResult
  func catchUp() throws(ArborError) -> UInt64 {
    do throws(ArborError) {
      let newest = try look()
      state.withLock { $0.progress = Progress(newest: newest) }
      return newest
    } catch {
      state.withLock { $0.progress.problem = error }
      throw error
    }
  }

  /// Updates the store on the watcher's own thread.
  ///
  /// - Returns: The error of the update, or `nil` if it succeeded.
  func lookSoon() async -> ArborError? {
    await withCheckedContinuation { continuation in
      queue.async { [weak self] in
        self?.lookUnlessEnded()
        continuation.resume(returning: self?.progress.problem)
      }
    }
  }

  private func lookNow() { queue.async { [weak self] in self?.lookUnlessEnded() } }

  private func lookLater() {
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self, self.lookUnlessEnded() else { return }
      self.lookLater()
    }
  }

  /// - Returns: Whether the watcher should continue.
  @discardableResult
  private func lookUnlessEnded() -> Bool {
    guard !state.withLock(\.hasEnded) else { return false }
    // The error is recorded in the progress.
    _ = try? catchUp()
    return true
  }
}

/// A task executor with its own queue, because a caller may block one of the few threads of the
/// cooperative pool while it waits for the task.
private final class NewsExecutor: TaskExecutor {
  let queue = DispatchQueue(label: "ArborData.news", qos: .utility)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension LogWatcher {
  /// Creates a watcher of a log in a folder.
  convenience init(_ follower: LogFollower, _ engine: StoreEngine, every interval: Duration) {
    self.init(every: interval) { () throws(ArborError) in
      try PersistentStore.logging(engine) { try follower.catchUp() }
    }
  }

  /// Creates a watcher of a shared log.
  ///
  /// - Parameter problem: The error that prevented the store from following the log when it was
  ///   opened, or `nil`.
  convenience init(
    _ client: LogClient, _ engine: StoreEngine, every interval: Duration, problem: ArborError?
  ) {
    let progress = Progress(newest: client.counts.newest, problem: problem)
    self.init(every: interval, news: client.log.news(), from: progress) { () throws(ArborError) in
      try PersistentStore.logging(engine) { try client.catchUp(engine) }
    }
  }
}

/// The log that a store follows or shares, and its watcher.
enum LogLink: Sendable {
  /// The store receives another store's commits through a folder.
  case folder(FolderLog, LogWatcher)
  /// The store appends its own commits to the log and receives those of other stores.
  case shared(LogClient, LogWatcher)

  /// Waits until the log's own threads have finished their work for a closed store.
  func waitUntilIdle() {
    if case .shared(let client, _) = self { client.log.waitUntilIdle() }
  }

  var watcher: LogWatcher {
    switch self {
    case .folder(_, let watcher), .shared(_, let watcher): watcher
    }
  }
}
