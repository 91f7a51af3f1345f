internal import ArborModel
internal import Foundation

/// The server of one page, with its token.
struct PageServer: Sendable {
  private let server: HTTPServer
  private let token: String

  /// Starts serving.
  ///
  /// - Parameters:
  ///   - port: The port, or 0 for `usualPort` or, if that is in use, any free one.
  ///   - usualPort: The preferred port, or `nil` if there isn't one.
  init(
    port: UInt16, usualPort: UInt16? = nil, limits: HTTPLimits,
    handler: @escaping HTTPServer.Handler
  ) throws(ArborError) {
    token = RequestGate.makeToken()
    if port == 0, let usualPort,
      let server = try? HTTPServer(
        port: usualPort, token: token, limits: limits, handler: handler)
    {
      self.server = server
    } else {
      server = try HTTPServer(port: port, token: token, limits: limits, handler: handler)
    }
    server.start()
  }

  /// The URL to open. The token is in the fragment, which web browsers do not send to servers.
  var url: URL {
    var parts = URLComponents()
    parts.scheme = "http"
    parts.host = "127.0.0.1"
    parts.port = Int(server.port)
    parts.path = "/"
    parts.fragment = "token=\(token)"
    return parts.url ?? URL(filePath: "/")
  }

  /// Stops accepting connections. Requests in progress are completed.
  func stop() { server.stop() }

  func waitForEnd() { server.waitForEnd() }
}
