public import ArborModel
public import ArborObjects
public import Foundation

/// A page in the user's web browser that shows what a store holds: its schema, its objects, queries
/// with their plans, commits as they happen, and its health.
///
/// ```swift
/// let browser = try StoreBrowser(store)
/// print("Open \(browser.url)")
/// browser.waitUntilStopped()
/// ```
///
/// The page is served on 127.0.0.1 only, to those who know the token that is in the URL, with
/// which all of the store can be read. Nothing is loaded from elsewhere. Unless
/// ``Options/allowsWriting`` says otherwise nothing can be changed.
///
/// A browser may be used from any thread. It keeps its store, and stops when nobody refers to it.
///
/// ## Topics
/// - ``init(_:options:)``
/// - ``url``
/// - ``waitUntilStopped()``
/// - ``stop()``
public final class StoreBrowser: Sendable {
  /// How a store is shown.
  public struct Options: Sendable, Hashable {
    /// Whether objects can be changed, inserted and deleted in the page; a store that is open for
    /// reading only cannot be changed in any case.
    public var allowsWriting = false
    /// The port of 127.0.0.1; 0 for any that is free.
    public var port: UInt16 = 0
    /// After how long without a request the page is served no more; half an hour at first. A page
    /// that shows the history live counts as a request.
    public var idleTime = Duration.seconds(30 * 60)

    /// Makes the usual options.
    public init() {}
  }

  private let server: HTTPServer
  let checkUp: CheckUp
  private let token: String

  /// Begins to serve a store.
  ///
  /// - Throws: `ArborError` `inputOutput` where the port cannot be had.
  public convenience init(_ store: PersistentStore, options: Options = .init()) throws(ArborError) {
    var limits = HTTPLimits()
    limits.idleTime = options.idleTime
    try self.init(store, options: options, limits: limits)
  }

  init(_ store: PersistentStore, options: Options, limits: HTTPLimits) throws(ArborError) {
    token = RequestGate.makeToken()
    let interface = BrowserInterface(
      store, allowsWriting: options.allowsWriting && !store.isReadOnly, limits: limits)
    checkUp = interface.checkUp
    server = try HTTPServer(port: options.port, token: token, limits: limits) { request in
      interface.response(to: request)
    }
    server.start()
  }

  deinit { stop() }

  /// The address to open, with the token behind `#`, where web browsers send it to nobody.
  public var url: URL {
    var parts = URLComponents()
    parts.scheme = "http"
    parts.host = "127.0.0.1"
    parts.port = Int(server.port)
    parts.path = "/"
    parts.fragment = "token=\(token)"
    return parts.url ?? URL(filePath: "/")
  }

  /// Ends serving; what is being answered is answered to its end, and a check of the store goes on
  /// to its end.
  public func stop() { server.stop() }

  /// Blocks the thread until the browser has been stopped, or has been idle for too long, and does
  /// nothing with the store any more.
  public func waitUntilStopped() {
    server.waitForEnd()
    checkUp.waitForEnd()
  }
}
