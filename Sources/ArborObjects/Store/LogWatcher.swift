internal import ArborLocks
internal import ArborLog
internal import ArborModel
internal import ArborStore
internal import Dispatch

/// Brings a store up to its log again and again.
final class LogWatcher: Sendable {
  /// What came of it so far.
  struct Progress: Sendable {
    /// The newest commit of the log that was seen.
    var newest: UInt64 = 0
    /// What kept the store from going on the last time.
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
  ///   - interval: How often to look.
  ///   - news: Says when to look beside that; nil where nothing can tell.
  ///   - progress: What is known so far.
  ///   - look: Brings the store up to the log, and returns the log's newest commit.
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

  /// Looks no more, and waits for a look that is under way, unless that is what calls it.
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

  /// Looks on the watcher's own thread.
  ///
  /// - Returns: What kept the store from going on.
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

  /// - Returns: Whether to go on.
  @discardableResult
  private func lookUnlessEnded() -> Bool {
    guard !state.withLock(\.hasEnded) else { return false }
    // What went wrong is told by the progress.
    _ = try? catchUp()
    return true
  }
}

/// Runs a task on a queue of its own: who waits for it may be on one of the few threads that tasks
/// run on otherwise.
private final class NewsExecutor: TaskExecutor {
  let queue = DispatchQueue(label: "ArborData.news", qos: .utility)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension LogWatcher {
  /// A watcher of a log in a folder.
  convenience init(_ follower: LogFollower, _ engine: StoreEngine, every interval: Duration) {
    self.init(every: interval) { () throws(ArborError) in
      try PersistentStore.logging(engine) { try follower.catchUp() }
    }
  }

  /// A watcher of a log that is shared.
  ///
  /// - Parameter problem: What kept the store from going on when it was opened.
  convenience init(
    _ client: LogClient, _ engine: StoreEngine, every interval: Duration, problem: ArborError?
  ) {
    let progress = Progress(newest: client.counts.newest, problem: problem)
    self.init(every: interval, news: client.log.news(), from: progress) { () throws(ArborError) in
      try PersistentStore.logging(engine) { try client.catchUp(engine) }
    }
  }
}

/// The log that a store follows or shares, and who looks at it.
enum LogLink: Sendable {
  /// Somebody else's commits come by a folder.
  case folder(FolderLog, LogWatcher)
  /// The store's own commits go there, and those of others come from there.
  case shared(LogClient, LogWatcher)

  /// Waits until the log's own threads have nothing left to do for a store that is closed.
  func waitUntilIdle() {
    if case .shared(let client, _) = self { client.log.waitUntilIdle() }
  }

  var watcher: LogWatcher {
    switch self {
    case .folder(_, let watcher), .shared(_, let watcher): watcher
    }
  }
}
