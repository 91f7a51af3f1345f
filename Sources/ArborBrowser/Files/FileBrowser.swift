package import ArborModel
package import Foundation
package import LMDB

/// A page in the user's web browser that shows the tables of an LMDB file of another program: keys
/// and values as text, numbers, hex and JSON.
///
/// The page is served like that of a ``StoreBrowser``. Nothing can be changed.
package final class FileBrowser: Sendable {
  private let page: PageServer

  /// Starts serving a file.
  ///
  /// - Throws: `ArborError` `inputOutput` if the port is not available.
  package convenience init(
    _ environment: Environment, path: String, port: UInt16 = 0
  ) throws(ArborError) {
    try self.init(environment, path: path, port: port, limits: HTTPLimits())
  }

  init(
    _ environment: Environment, path: String, port: UInt16, limits: HTTPLimits
  ) throws(ArborError) {
    let interface = FileInterface(environment, path: path, limits: limits)
    page = try PageServer(port: port, limits: limits) { interface.response(to: $0) }
  }

  deinit { stop() }

  /// The URL to open.
  package var url: URL { page.url }

  /// Stops serving.
  package func stop() { page.stop() }

  /// Blocks the calling thread until the browser has stopped.
  package func waitUntilStopped() { page.waitForEnd() }
}
