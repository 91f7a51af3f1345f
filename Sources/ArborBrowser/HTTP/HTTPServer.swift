internal import ArborLocks
internal import ArborModel
internal import Foundation

/// Accepts local connections and handles one request on each.
///
/// Each connection has a thread, because reads of the store block and a page needs a few dozen at
/// most. Every wait has a deadline.
///
/// Any program on this machine can connect. Connections that have not presented the token cannot
/// crowd out those that have: if there are too many of them, a new one closes the oldest. The
/// accepting thread waits for no client.
final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  private struct State {
    /// The number of connections with a thread.
    var threads = 0
    /// The connections that have not presented the token, oldest first.
    var strangers: [Connection] = []
    /// The number of connections that have presented the token.
    var admitted = 0
    /// The time at which an admitted connection last started or ended, not counting those that only
    /// watch.
    var lastUse = ContinuousClock.now
    var isStopped = false
  }

  let port: UInt16
  private let listener: LoopbackListener
  private let limits: HTTPLimits
  private let gate: RequestGate
  private let handler: Handler
  private let state = Lock(State())
  private let ended = NSCondition()

  init(
    port: UInt16, token: String, limits: HTTPLimits, handler: @escaping Handler
  ) throws(ArborError) {
    listener = try LoopbackListener(port: port)
    self.port = listener.port
    self.limits = limits
    self.handler = handler
    gate = RequestGate(port: listener.port, token: token)
  }

  func start() { Thread.run("arbor-browser") { self.acceptAll() } }

  /// Stops accepting connections and ends streams.
  func stop() { state.withLock { $0.isStopped = true } }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Waits until the server has stopped and its last connection has ended.
  func waitForEnd() {
    ended.lock()
    defer { ended.unlock() }
    while !state.withLock({ $0.isStopped && $0.threads == 0 }) {
      _ = ended.wait(until: Date(timeIntervalSinceNow: 0.2))
    }
  }

  private func acceptAll() {
    while !stopsNow() {
      guard let connection = listener.accept(within: 200) else { continue }
      let isTaken = state.withLock { state in
        guard !state.isStopped, state.threads < limits.threads else { return false }
        state.threads += 1
        if state.strangers.count >= limits.strangers { state.strangers.removeFirst().cut() }
        state.strangers.append(connection)
        return true
      }
      guard isTaken else { continue }
      Thread.run("arbor-browser.connection") {
        let isAdmitted = self.answer(connection)
        self.state.withLock { state in
          state.threads -= 1
          state.strangers.removeAll { $0 === connection }
          guard isAdmitted != .no else { return }
          state.admitted -= 1
          if isAdmitted == .asUse { state.lastUse = .now }
        }
        self.ended.broadcast()
      }
    }
    listener.end()
    ended.broadcast()
  }

  private func stopsNow() -> Bool {
    state.withLock { state in
      if state.admitted == 0, state.lastUse.duration(to: .now) > limits.idleTime {
        state.isStopped = true
      }
      return state.isStopped
    }
  }

  /// The outcome of admitting a connection, which requires the token and a free slot.
  private enum Admission {
    case no
    /// A background request of a page, which doesn't keep an idle server running.
    case asWatch
    case asUse
  }

  private func answer(_ connection: Connection) -> Admission {
    let response: HTTPResponse
    var isAdmitted = Admission.no
    do throws(HTTPRequest.Refusal) {
      let request = try HTTPRequest.read(from: connection, limits) {
        (request) throws(HTTPRequest.Refusal) in
        try gate.admit(request)
        guard request.path.hasPrefix(RequestGate.guarded) else { return }
        isAdmitted = admit(connection, isUse: request.path != RequestGate.watching)
        if isAdmitted == .no {
          throw .init(status: .unavailable, reason: "There are too many connections.")
        }
      }
      guard let request else { return isAdmitted }
      response = handler(request)
    } catch {
      response = .refusal(error.status, error.reason)
    }
    guard connection.write(response.head + response.body, until: .now + limits.answerTime) else {
      return isAdmitted
    }
    response.stream?(
      BodyStream(connection: connection, limits: limits, isStopped: { self.isStopped }))
    connection.finish(until: .now + .seconds(1))
    return isAdmitted
  }

  /// Reserves a slot for a connection that has presented the token, if one is free.
  private func admit(_ connection: Connection, isUse: Bool) -> Admission {
    state.withLock { state in
      guard state.admitted < limits.connections else { return .no }
      state.strangers.removeAll { $0 === connection }
      state.admitted += 1
      if isUse { state.lastUse = .now }
      return isUse ? .asUse : .asWatch
    }
  }
}

extension Thread {
  /// Runs `body` on a new thread with a stack large enough for deeply nested predicates.
  static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }
}

/// The limits on the size and duration of requests.
struct HTTPLimits: Sendable {
  /// The maximum size of the request line and all header lines, in bytes.
  var head = 16 << 10
  var headerLines = 64
  /// The maximum size of a request body, in bytes.
  var body = 1 << 20
  /// The maximum size of a binary value in a response, in bytes. Larger ones are not read.
  var binary = 64 << 20
  /// The maximum number of concurrent connections that have presented the token. Further ones are
  /// refused.
  var connections = 32
  /// The maximum number of concurrent connections that haven't presented the token. Exceeding this
  /// closes the oldest one.
  var strangers = 32
  /// The maximum number of connection threads, including those that are about to end.
  var threads = 128
  /// The timeout for receiving the head of a request.
  var headTime = Duration.seconds(5)
  /// The timeout for receiving the body of a request.
  var bodyTime = Duration.seconds(10)
  /// The timeout for sending a response, or one part of a stream.
  var answerTime = Duration.seconds(30)
  /// The time limit of an operation on the store.
  var workTime = Duration.seconds(20)
  /// The time without a connection after which the server stops.
  var idleTime = Duration.seconds(30 * 60)
}
