internal import Foundation

/// An accepted TCP connection that is read and written with deadlines.
final class Connection: Sendable {
  private let descriptor: Int32

  /// Takes ownership of a descriptor.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    #if canImport(Darwin)
      // On Linux this is a flag of each send.
      var isOn: Int32 = 1
      _ = setsockopt(
        descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  deinit { close(descriptor) }

  /// Waits for data and reads at most `limit` bytes. Returns an empty array if the peer has closed
  /// the connection, the deadline has passed or the connection has failed.
  func read(atMost limit: Int, until deadline: ContinuousClock.Instant) -> [UInt8] {
    while wait(for: POLLIN, until: deadline) {
      // The array is initialized up to the number of bytes that the system has written.
      var failure: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
        let result = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        failure = result < 0 ? errno : 0
        count = max(0, result)
      }
      if failure == EAGAIN || failure == EINTR { continue }
      return bytes
    }
    return []
  }

  /// Writes all bytes. Returns `false` if they could not be written before the deadline.
  func write(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard wait(for: POLLOUT, until: deadline) else { return false }
      let result = bytes.withUnsafeBytes { buffer in
        // Within the bounds of the buffer: `sent` is less than its count.
        send(
          descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Self.withoutSignal)
      }
      if result < 0, errno != EAGAIN, errno != EINTR { return false }
      sent += max(0, result)
    }
    return true
  }

  /// Whether the peer has closed the connection or it has failed.
  var isOver: Bool {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, 0) > 0 else { return false }
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Self.peeking) == 0 || event.revents & failed != 0
  }

  /// Shuts the connection down immediately, which ends pending reads and writes.
  func cut() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes the connection so that everything written still arrives: closing it with unread input
  /// would reset it and discard the response.
  func finish(until deadline: ContinuousClock.Instant) {
    _ = shutdown(descriptor, Int32(SHUT_WR))
    var unread = 0
    while unread < 1 << 20 {
      let bytes = read(atMost: 1 << 14, until: deadline)
      if bytes.isEmpty { return }
      unread += bytes.count
    }
  }

  private var failed: Int16 { Int16(POLLERR) | Int16(POLLHUP) }

  private func wait(for event: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return false }
      let milliseconds = min(left / .milliseconds(1), 60_000).rounded(.up)
      var polled = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      let ready = poll(&polled, 1, Int32(milliseconds))
      if ready > 0 { return true }
      if ready < 0, errno != EINTR { return false }
    }
  }

  #if canImport(Darwin)
    private static let withoutSignal: Int32 = 0
  #else
    private static let withoutSignal = Int32(MSG_NOSIGNAL)
  #endif
  private static let peeking = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
}
