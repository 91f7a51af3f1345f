internal import ArborLocks
internal import ArborModel
internal import Foundation

/// Accepts connections on this machine and answers one request on each.
///
/// Each connection has a thread: looks into a store block, and a few dozen are all that a page has
/// use for. Deadlines bound every wait.
///
/// Any program on this machine can connect. Connections that have not shown the token never crowd
/// out those that have: when there are too many of them, a new one ends the oldest. The accepting
/// thread waits for no client.
final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  private struct State {
    /// Connections that have a thread.
    var threads = 0
    /// Those that have not shown the token, the oldest first.
    var strangers: [Connection] = []
    /// Those that have.
    var admitted = 0
    /// When one of these came or ended last.
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

  /// Refuses connections from now on, and ends streams.
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
          guard isAdmitted else { return }
          state.admitted -= 1
          state.lastUse = .now
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

  /// Answers one request; returns whether it showed the token.
  private func answer(_ connection: Connection) -> Bool {
    let response: HTTPResponse
    var isAdmitted = false
    do throws(HTTPRequest.Refusal) {
      let request = try HTTPRequest.read(from: connection, limits) {
        (request) throws(HTTPRequest.Refusal) in
        try gate.admit(request)
        guard request.path.hasPrefix(RequestGate.guarded) else { return }
        isAdmitted = admit(connection)
        if !isAdmitted {
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
      EventStream(connection: connection, limits: limits, isStopped: { self.isStopped }))
    connection.finish(until: .now + .seconds(1))
    return isAdmitted
  }

  /// Gives a connection that has shown the token a place of its own, if one is free.
  private func admit(_ connection: Connection) -> Bool {
    state.withLock { state in
      guard state.admitted < limits.connections else { return false }
      state.strangers.removeAll { $0 === connection }
      state.admitted += 1
      state.lastUse = .now
      return true
    }
  }
}

extension Thread {
  /// Runs a body on a thread with room for deep predicates.
  static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }
}

/// How much a client may ask of the server, and how long it may take.
struct HTTPLimits: Sendable {
  /// Bytes of the request line and all header lines.
  var head = 16 << 10
  var headerLines = 64
  /// Bytes of a body.
  var body = 1 << 20
  /// Bytes of a binary in an answer; larger ones are not read.
  var binary = 64 << 20
  /// Connections at one time that have shown the token; one more is refused.
  var connections = 32
  /// Connections at one time that have not; one more ends the oldest of them.
  var strangers = 32
  /// Threads of connections at one time, those included that are about to end.
  var threads = 128
  /// How long a client may take to send its request's head.
  var headTime = Duration.seconds(5)
  /// How long a client may take to send its request's body.
  var bodyTime = Duration.seconds(10)
  /// How long a client may take to take an answer, or one part of a stream.
  var answerTime = Duration.seconds(30)
  /// How long a look into the store may take.
  var workTime = Duration.seconds(20)
  /// After how long without a connection the server stops.
  var idleTime = Duration.seconds(30 * 60)
}
