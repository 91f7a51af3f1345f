internal import ArborLocks
internal import ArborModel
internal import Foundation

/// Accepts connections on this machine and answers one request on each.
///
/// Each connection has a thread: looks into a store block, and a few dozen are all that a page has
/// use for. Deadlines bound every wait, so that a client that says nothing holds its thread for
/// seconds only.
final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  private struct State {
    var connections = 0
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
    while !state.withLock({ $0.isStopped && $0.connections == 0 }) {
      _ = ended.wait(until: Date(timeIntervalSinceNow: 0.2))
    }
  }

  private func acceptAll() {
    while !stopsNow() {
      guard let connection = listener.accept(within: 200) else { continue }
      let isAdmitted = state.withLock { state in
        state.lastUse = .now
        guard !state.isStopped, state.connections < limits.connections else { return false }
        state.connections += 1
        return true
      }
      guard isAdmitted else {
        refuse(connection)
        continue
      }
      Thread.run("arbor-browser.connection") {
        self.answer(connection)
        self.state.withLock {
          $0.connections -= 1
          $0.lastUse = .now
        }
        self.ended.broadcast()
      }
    }
    listener.end()
    ended.broadcast()
  }

  private func stopsNow() -> Bool {
    state.withLock { state in
      if state.connections == 0, state.lastUse.duration(to: .now) > limits.idleTime {
        state.isStopped = true
      }
      return state.isStopped
    }
  }

  /// Refuses without reading: there is no thread for it.
  private func refuse(_ connection: Connection) {
    let reason = isStopped ? "The server has stopped." : "There are too many connections."
    let answer = HTTPResponse.refusal(.unavailable, reason)
    _ = connection.write(answer.head + answer.body, until: .now + .milliseconds(100))
    connection.finish(until: .now + .milliseconds(100))
  }

  private func answer(_ connection: Connection) {
    let response: HTTPResponse
    do throws(HTTPRequest.Refusal) {
      let request = try HTTPRequest.read(from: connection, limits, admit: gate.admit)
      guard let request else { return }
      response = handler(request)
    } catch {
      response = .refusal(error.status, error.reason)
    }
    guard connection.write(response.head + response.body, until: .now + limits.answerTime) else {
      return
    }
    response.stream?(
      EventStream(connection: connection, limits: limits, isStopped: { self.isStopped }))
    connection.finish(until: .now + .seconds(1))
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
  /// Connections at one time; one more is refused.
  var connections = 32
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
