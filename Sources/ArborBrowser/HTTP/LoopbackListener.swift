internal import ArborModel
internal import Foundation

/// A TCP socket that listens on 127.0.0.1 only, which no other machine can reach.
final class LoopbackListener: Sendable {
  /// The port, chosen by the system if none was specified.
  let port: UInt16
  private let descriptor: Int32

  /// Starts listening.
  ///
  /// - Parameter wanted: The port, or 0 for any free one.
  /// - Throws: `ArborError` `inputOutput` if the port is in use or not permitted.
  init(port wanted: UInt16) throws(ArborError) {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      throw Self.failure("A socket cannot be created")
    }
    // A connection may disappear between poll and accept, which must not block then.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    // Permits reusing a port whose last connections are still closing, but not one that is in use.
    var isOn: Int32 = 1
    _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The pointer is used within the call only, and the size matches its target.
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, address, &size) == 0
      }
    }
    guard isListening else {
      let failure = Self.failure("Port \(wanted) of 127.0.0.1 cannot be used")
      close(descriptor)
      throw failure
    }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }

  /// Waits for a connection. Returns `nil` after the given time.
  func accept(within milliseconds: Int32) -> Connection? {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, milliseconds) > 0 else { return nil }
    let accepted = Foundation.accept(descriptor, nil, nil)
    guard accepted >= 0 else {
      // Out of descriptors: the connection stays ready, so poll would return immediately.
      usleep(10_000)
      return nil
    }
    return Connection(accepted)
  }

  func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  private static func failure(_ what: String) -> ArborError {
    ArborError(
      .inputOutput,
      "\(what): \(String(cString: strerror(errno))). Choose another port, or 0 for any free port.")
  }
}
