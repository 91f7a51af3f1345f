public import ArborModel
public import ArborObjects
public import Foundation

/// A page in the user's web browser that shows the contents of a store: its schema, its objects,
/// queries with their plans, commits as they happen, and its health.
///
/// ```swift
/// let browser = try StoreBrowser(store)
/// print("Open \(browser.url)")
/// browser.waitUntilStopped()
/// ```
///
/// The page is served on 127.0.0.1 only. Access to data requires the token in the URL, which grants
/// read access to the entire store. Nothing is loaded from elsewhere. Nothing can be changed unless
/// ``Options/allowsWriting`` is `true`.
///
/// Thread-safe. A browser retains its store, and stops when it is released.
///
/// ## Topics
/// - ``init(_:options:)``
/// - ``url``
/// - ``waitUntilStopped()``
/// - ``stop()``
public final class StoreBrowser: Sendable {
  /// The options of a browser.
  public struct Options: Sendable, Hashable {
    /// A Boolean value that indicates whether objects can be changed, inserted and deleted in the
    /// page. The default is `false`. A store opened read-only can never be changed.
    public var allowsWriting = false
    /// The port on 127.0.0.1. The default, 0, selects a free port. A store gets the same port each
    /// time if that port is free, because web browsers store a page's settings per port.
    public var port: UInt16 = 0
    /// The time without an authorized request after which the browser stops. The default is half an
    /// hour. A page that shows the live history counts as a request.
    public var idleTime = Duration.seconds(30 * 60)
    /// Where the page keeps the user's queries, or `nil` for nowhere.
    package var shelf: QueryShelf?
    /// The model whose differences from that of the store can be drawn, or `nil` for none.
    package var compared: ComparedModel?

    /// Creates the default options.
    public init() {}
  }

  private let page: PageServer
  let checkUp: CheckUp

  /// Starts serving a store.
  ///
  /// - Throws: `ArborError` `inputOutput` if the port is not available.
  public convenience init(_ store: PersistentStore, options: Options = .init()) throws(ArborError) {
    var limits = HTTPLimits()
    limits.idleTime = options.idleTime
    try self.init(store, options: options, limits: limits)
  }

  init(_ store: PersistentStore, options: Options, limits: HTTPLimits) throws(ArborError) {
    let interface = BrowserInterface(
      store, allowsWriting: options.allowsWriting && !store.isReadOnly, shelf: options.shelf,
      compared: options.compared, limits: limits)
    checkUp = interface.checkUp
    page = try PageServer(
      port: options.port, usualPort: Self.usualPort(of: store), limits: limits
    ) { interface.response(to: $0) }
  }

  /// Returns the preferred port of a store, below the range that the system assigns to clients.
  private static func usualPort(of store: PersistentStore) -> UInt16 {
    let bytes = store.id.uuid
    return 20_000 + (UInt16(bytes.14) << 8 | UInt16(bytes.15)) % 12_000
  }

  deinit { stop() }

  /// The URL to open. The token is in the fragment, which web browsers do not send to servers.
  public var url: URL { page.url }

  /// Stops serving. Requests in progress are completed, and so is a running check of the store.
  public func stop() { page.stop() }

  /// Blocks the calling thread until the browser has stopped, by a call or after
  /// ``Options/idleTime``, and no longer uses the store.
  public func waitUntilStopped() {
    page.waitForEnd()
    checkUp.waitForEnd()
  }
}
