internal import ArborJSON
internal import ArborLocks
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The commits of a store as they happen, with their changes.
///
/// A store's history records which properties changed, but not their values. The feed therefore
/// caches values of as many objects as ``CommitValues`` allows, and shows old and new values if it
/// knows them. It starts with the first request.
final class ChangeFeed: Sendable {
  private struct State {
    /// The most recent commits since the feed started, oldest first.
    var events: [(sequence: UInt64, json: JSONValue)] = []
    var task: Task<Void, Never>?
  }

  /// The maximum number of commits kept for later requests.
  private static let maximumEvents = 500
  /// The number of commits that the page shows initially.
  private static let recentCount = 200

  private let store: PersistentStore
  private let state = Lock(State())
  private let values: Lock<CommitValues>
  /// The queue on which the store is read for the task that waits for commits, because reading
  /// blocks.
  private let queue = DispatchQueue(label: "arbor-browser.feed", qos: .utility)
  private let bell = NSCondition()

  init(_ store: PersistentStore, _ schema: BrowsedSchema) {
    self.store = store
    values = Lock(CommitValues(store, schema))
  }

  deinit { state.withLock { $0.task?.cancel() } }

  /// Returns the newest commits, oldest first. The stream continues after the last one.
  func recent() throws(ArborError) -> JSONValue {
    try follow()
    let known = state.withLock { $0.events }
    let commits = try store.recentCommits(Self.recentCount).map { commit in
      known.first { $0.sequence == commit.commitSequence }?.json
        ?? CommitValues.json(of: commit, objects: CommitValues.names(of: commit))
    }
    return ["commits": .array(commits)]
  }

  /// Returns a response that streams the commits after `sequence` as server-sent events.
  func stream(after sequence: UInt64) throws(ArborError) -> HTTPResponse {
    try follow()
    var response = HTTPResponse(contentType: "text/event-stream")
    response.stream = { [weak self] stream in
      var last = sequence
      var silence = 0
      guard stream.sendSignOfLife() else { return }
      while !stream.isOver, let events = self?.events(after: last) {
        for event in events {
          guard stream.send(event.json) else { return }
          last = event.sequence
        }
        silence = events.isEmpty ? silence + 1 : 0
        if silence > 0, silence.isMultiple(of: 50), !stream.sendSignOfLife() { return }
      }
    }
    return response
  }

  /// Returns the events after a sequence number, waiting briefly for the first one.
  private func events(after sequence: UInt64) -> [(sequence: UInt64, json: JSONValue)] {
    let isNews = { self.state.withLock { ($0.events.last?.sequence ?? 0) > sequence } }
    bell.lock()
    if !isNews() { _ = bell.wait(until: Date(timeIntervalSinceNow: 0.2)) }
    bell.unlock()
    return state.withLock { $0.events.filter { $0.sequence > sequence } }
  }

  private func follow() throws(ArborError) {
    let isFirst = state.withLock { state in
      guard state.task == nil else { return false }
      // Subscribed here instead of in the task, so that no commit is missed in between.
      let changes = store.changes
      state.task = Task.detached(priority: .utility) { [weak self] in
        for await commit in changes {
          guard commit.migration == nil else { continue }
          guard let self else { return }
          self.queue.async { self.add(commit) }
        }
      }
      return true
    }
    // Filled before the response, so that later commits have their old values.
    if isFirst { try values.withLock { (values) throws(ArborError) in try values.fill() } }
  }

  private func add(_ commit: CommittedChanges) {
    let sequence = commit.commitSequence
    let json = values.withLock { values in
      do throws(ArborError) { return try values.json(of: commit) } catch {
        values.forget()
        return CommitValues.json(
          of: commit, objects: CommitValues.names(of: commit), problem: error.message)
      }
    }
    state.withLock { state in
      state.events.append((sequence, json))
      if state.events.count > Self.maximumEvents { state.events.removeFirst() }
    }
    bell.lock()
    bell.broadcast()
    bell.unlock()
  }
}
