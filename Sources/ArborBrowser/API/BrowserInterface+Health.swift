internal import ArborJSON
internal import ArborLocks
internal import ArborModel
internal import ArborObjects
internal import ArborStore
internal import Foundation

/// The health of the store's file.
extension BrowserInterface {
  /// Returns the space usage of the file, its readers, and the use of indexes.
  func health() throws(ArborError) -> JSONValue {
    let space = try store.spaceUsage()
    let readers = try store.readers().map { reader -> JSONValue in
      [
        "process": JSONValue(Int(reader.processID)),
        "name": reader.processName.map(JSONValue.string) ?? .null,
        "since": reader.since.map { .string(ISO8601Date.milliseconds($0)) } ?? .null,
        "behind": JSONValue(reader.transactionsBehind),
        "pinnedBytes": JSONValue(reader.pinnedBytes),
      ]
    }
    return [
      "file": JSONValue(space.file), "pageSize": JSONValue(space.pageSize),
      "kinds": .array(
        (space.kinds + [("free", space.free, false)]).map {
          [
            "name": .string($0.name), "bytes": JSONValue($0.bytes),
            "isEstimated": .bool($0.isEstimated),
          ]
        }), "reclaimable": JSONValue(space.reclaimable), "pinned": JSONValue(space.pinned),
      "readers": .array(readers), "databases": .array(try databases(of: space)),
    ]
  }

  /// Returns each entity, index and relationship with its size. Indexes include the number of times
  /// that this process has used them.
  private func databases(of space: StoreSpace) throws(ArborError) -> [JSONValue] {
    let uses = Dictionary(
      try store.indexes().map { ("\($0.entity).\($0.name)", $0.uses) },
      uniquingKeysWith: { first, _ in first })
    return space.databases.map { database in
      let name = [database.entity, database.name].compactMap { $0 }.joined(separator: ".")
      return [
        "kind": .string(database.kind.rawValue), "title": .string(database.title),
        "entries": JSONValue(database.entries), "bytes": JSONValue(database.bytes),
        "fill": database.fill.flatMap(JSONNumber.init).map(JSONValue.number) ?? .null,
        "isEstimated": .bool(database.isEstimated),
        "uses": database.kind == .index ? uses[name].map { JSONValue($0) } ?? .null : .null,
      ]
    }
  }
}

/// The check of the entire store, which runs on its own thread. Only one check runs at a time,
/// regardless of the number of clients that request it.
final class CheckUp: Sendable {
  private enum Progress {
    case none(isCancelled: Bool)
    case running(String, done: Int, total: Int, Revocation)
    case done(JSONObject)
  }

  private let store: PersistentStore
  private let progress = Lock(Progress.none(isCancelled: false))
  private let ended = NSCondition()

  init(_ store: PersistentStore) { self.store = store }

  /// Starts a check unless one is running, and returns the current state.
  func start() -> JSONValue {
    let revocation = Revocation()
    let begins = progress.withLock { progress in
      if case .running = progress { return false }
      progress = .running("Beginning", done: 0, total: 1, revocation)
      return true
    }
    if begins { Thread.run("arbor-browser.check") { self.run(revocation) } }
    return state
  }

  /// Cancels a running check, which ends within milliseconds without a result.
  func cancel() -> JSONValue {
    progress.withLock { if case .running(_, _, _, let revocation) = $0 { revocation.revoke() } }
    return state
  }

  func waitForEnd() {
    ended.lock()
    defer { ended.unlock() }
    while progress.withLock({ if case .running = $0 { true } else { false } }) {
      _ = ended.wait(until: Date(timeIntervalSinceNow: 0.2))
    }
  }

  /// The progress of the check, or its result.
  var state: JSONValue {
    progress.withLock { progress in
      switch progress {
      case .none(let isCancelled): ["state": "none", "isCancelled": .bool(isCancelled)]
      case .running(let stage, let done, let total, _):
        [
          "state": "running", "stage": .string(stage), "done": JSONValue(done),
          "total": JSONValue(total),
        ]
      case .done(let result): .object(result)
      }
    }
  }

  private func run(_ revocation: Revocation) {
    let began = ContinuousClock.now
    var result: JSONObject = ["state": "done"]
    do throws(ArborError) {
      let report = try store.check(revocation: revocation) { told in
        self.progress.withLock {
          $0 = .running(Self.words(told.stage), done: told.done, total: told.total, revocation)
        }
      }
      result["records"] = JSONValue(report.recordCount)
      result["indexEntries"] = JSONValue(report.indexEntryCount)
      result["links"] = JSONValue(report.linkCount)
      result["problems"] = .array(report.problems.map { .string($0.description) })
    } catch  where error.code == .cancelled {
      progress.withLock { $0 = .none(isCancelled: true) }
      ended.broadcast()
      return
    } catch {
      result["error"] = BrowserInterface.json(of: error)
    }
    result["milliseconds"] = JSONValue(Int(began.duration(to: .now) / .milliseconds(1)))
    let done = result
    progress.withLock { $0 = .done(done) }
    ended.broadcast()
  }

  private static func words(_ stage: StoreCheckProgress.Stage) -> String {
    switch stage {
    case .pages: "Verifying pages"
    case .records(let entity): "Checking records of \(entity)"
    case .indexes: "Checking indexes"
    case .relationships: "Checking relationships"
    case .digests: "Checking digests"
    }
  }
}
