internal import ArborJSON
internal import ArborModel

enum HTTPStatus: Int, Sendable {
  case ok = 200
  case badRequest = 400
  case unauthorized = 401
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case timeout = 408
  case conflict = 409
  case lengthRequired = 411
  case tooLarge = 413
  case unsupportedType = 415
  case headersTooLarge = 431
  case failed = 500
  case unavailable = 503
  case versionNotSupported = 505
}

/// An answer, with the headers that keep a page from doing more than it should.
struct HTTPResponse: Sendable {
  var status = HTTPStatus.ok
  var contentType = "application/json"
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  /// What is sent in parts behind the head; nil for answers that are whole.
  var stream: (@Sendable (EventStream) -> Void)?

  /// Nothing but the page's own files may be loaded, and nothing may be sent elsewhere; blobs are
  /// pictures that the page was given as bytes.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// The headers of every answer beside its own.
  static let protections: [(name: String, value: String)] = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"), ("Connection", "close"),
  ]

  static func json(_ value: JSONValue, status: HTTPStatus = .ok) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(value.text(.compact).utf8))
  }

  /// A refusal, in the form that the page shows errors of.
  static func refusal(_ status: HTTPStatus, _ reason: String) -> HTTPResponse {
    json(["error": ["code": "refused", "message": .string(reason)]], status: status)
  }

  var head: [UInt8] {
    var text = "HTTP/1.1 \(status.rawValue) \(status)\r\nContent-Type: \(contentType)\r\n"
    if stream == nil { text += "Content-Length: \(body.count)\r\n" }
    for (name, value) in headers + Self.protections { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}

/// Where a stream of events is written to.
struct EventStream: Sendable {
  let connection: Connection
  let limits: HTTPLimits
  let isStopped: @Sendable () -> Bool

  /// Whether nobody reads the stream any more.
  var isOver: Bool { isStopped() || connection.isOver }

  /// Sends one event, whose data is one line, as JSON is; false where it was not taken.
  func send(_ value: JSONValue) -> Bool { send("data: \(value.text(.compact))\n\n") }

  /// Sends a comment, so that both sides notice where the other one is gone.
  func sendSignOfLife() -> Bool { send(":\n\n") }

  private func send(_ text: String) -> Bool {
    connection.write(Array(text.utf8), until: .now + limits.answerTime)
  }
}
