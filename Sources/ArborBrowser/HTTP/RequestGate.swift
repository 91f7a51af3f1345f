internal import Foundation

/// The access control of the server.
///
/// Any page that the user has open can send requests to a local port, and any host name can resolve
/// to it. A request must therefore name the server as 127.0.0.1 or localhost and must not come from
/// another page. Access to data also requires the token, which is part of the user's URL.
struct RequestGate: Sendable {
  let port: UInt16
  /// The secret of this run, in hexadecimal.
  let token: String

  /// Creates a 128-bit secret from the system's random number generator.
  static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<2).map { _ in String(generator.next(), radix: 16) }
    return digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
  }

  /// The prefix of the paths that require the token. The other paths are the page's own files,
  /// which contain no data of the store.
  static let guarded = "/api/"

  /// The path of the request that open pages repeat.
  static let watching = "/api/news"

  /// Admits a request by its head, or throws the reason for refusing it.
  func admit(_ request: HTTPRequest) throws(HTTPRequest.Refusal) {
    guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
      throw .init(status: .forbidden, reason: "The Host header doesn't name this server.")
    }
    if let origin = request.headers["origin"], !hosts.contains(where: { origin == "http://\($0)" })
    {
      throw .init(status: .forbidden, reason: "The Origin header names another site.")
    }
    if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" {
      throw .init(status: .forbidden, reason: "The request comes from another site.")
    }
    guard request.method == "GET" || request.method == "POST" else {
      throw .init(status: .methodNotAllowed, reason: "Only GET and POST are supported.")
    }
    guard request.path.hasPrefix(Self.guarded) else { return }
    guard isKnown(request.headers["authorization"] ?? "") else {
      throw .init(
        status: .unauthorized,
        reason: "The token is missing or expired. Open the address that was printed.")
    }
    if request.method == "POST", !isJSON(request.headers["content-type"] ?? "") {
      throw .init(status: .unsupportedType, reason: "The request body must be application/json.")
    }
  }

  private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

  /// Returns whether an authorization contains the token. Compares in constant time, so that the
  /// duration doesn't reveal how much of a guess was correct.
  private func isKnown(_ authorization: String) -> Bool {
    let (given, expected) = (Array(authorization.utf8), Array("Bearer \(token)".utf8))
    var difference = given.count ^ expected.count
    for (index, byte) in expected.enumerated() {
      difference |= Int(byte ^ (index < given.count ? given[index] : 0))
    }
    return difference == 0
  }

  private func isJSON(_ type: String) -> Bool {
    let name = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    return name.lowercased() == "application/json"
  }
}
