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

/// A response, including the headers that restrict what the page may do.
struct HTTPResponse: Sendable {
  var status = HTTPStatus.ok
  var contentType = "application/json"
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  /// A function that sends the body in parts after the head; `nil` for responses with a fixed body.
  var stream: (@Sendable (BodyStream) -> Void)?
  /// Whether the stream uses chunked transfer encoding, so that the client detects truncation.
  var isChunked = false

  /// The policy that allows the page to load only its own files and to connect only to this server.
  /// Blobs are images that the page has received as bytes.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// The headers of every response.
  static let protections: [(name: String, value: String)] = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"), ("Connection", "close"),
  ]

  static func json(_ value: JSONValue, status: HTTPStatus = .ok) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(value.text(.compact).utf8))
  }

  /// Returns a refusal in the JSON form that the page expects for errors.
  static func refusal(_ status: HTTPStatus, _ reason: String) -> HTTPResponse {
    json(["error": ["code": "refused", "message": .string(reason)]], status: status)
  }

  var head: [UInt8] {
    var text = "HTTP/1.1 \(status.rawValue) \(status)\r\nContent-Type: \(contentType)\r\n"
    if stream == nil { text += "Content-Length: \(body.count)\r\n" }
    if isChunked { text += "Transfer-Encoding: chunked\r\n" }
    for (name, value) in headers + Self.protections { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}

/// The body of a response, sent in parts: server-sent events, or chunks of a document.
struct BodyStream: Sendable {
  let connection: Connection
  let limits: HTTPLimits
  let isStopped: @Sendable () -> Bool

  /// Whether the stream is no longer read.
  var isOver: Bool { isStopped() || connection.isOver }

  /// Sends an event whose data is a single line of JSON. Returns whether that succeeded.
  func send(_ value: JSONValue) -> Bool { send("data: \(value.text(.compact))\n\n") }

  /// Sends a comment as a keepalive, so that each side detects if the other one is gone. Returns
  /// whether that succeeded.
  func sendSignOfLife() -> Bool { send(":\n\n") }

  /// Sends a chunk of a document. Returns whether that succeeded.
  func sendChunk(_ bytes: [UInt8]) -> Bool {
    // An empty chunk would mark the end.
    guard !bytes.isEmpty else { return true }
    let head = Array("\(String(bytes.count, radix: 16))\r\n".utf8)
    return write(head + bytes + [13, 10])
  }

  /// Sends the end of a document. Without it, the client knows that the document is truncated.
  /// Returns whether that succeeded.
  func sendEnd() -> Bool { send("0\r\n\r\n") }

  private func send(_ text: String) -> Bool { write(Array(text.utf8)) }

  private func write(_ bytes: [UInt8]) -> Bool {
    connection.write(bytes, until: .now + limits.answerTime)
  }
}
