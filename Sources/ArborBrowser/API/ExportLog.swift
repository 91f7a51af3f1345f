internal import ArborJSON
internal import ArborLocks
internal import ArborModel

/// The outcomes of the latest exports. The body of a response cannot report its own outcome,
/// because a truncated document must not look complete.
final class ExportLog: Sendable {
  enum State: Sendable {
    case running
    case done(rows: Int)
    case failed(ArborError, rows: Int)
  }

  private static let maximumCount = 64

  private struct Log {
    var next = 1
    var states: [Int: State] = [:]
  }

  private let log = Lock(Log())

  /// Records a new export. Returns its number.
  func begin() -> Int {
    log.withLock { log in
      let number = log.next
      log.next += 1
      log.states[number] = .running
      log.states[number - Self.maximumCount] = nil
      return number
    }
  }

  func end(_ number: Int, _ state: State) {
    log.withLock { log in
      if log.states[number] != nil { log.states[number] = state }
    }
  }

  /// Returns the state of an export, or `nil` if it is unknown.
  func state(_ number: Int) -> JSONValue? {
    switch log.withLock({ $0.states[number] }) {
    case nil: nil
    case .running?: ["state": "running"]
    case .done(let rows)?: ["state": "done", "rows": JSONValue(rows)]
    case .failed(let error, let rows)?:
      ["state": "failed", "rows": JSONValue(rows), "error": BrowserInterface.json(of: error)]
    }
  }
}
