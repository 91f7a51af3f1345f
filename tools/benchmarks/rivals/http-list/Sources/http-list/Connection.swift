import Foundation

/// A persistent connection to a local server, with the minimum of HTTP.
final class Connection {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(descriptor)
      throw Failure("No server listens on port \(port).")
    }
    var isOn: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// Waits until a server listens, for at most a minute, because it may have to fill its file
  /// first.
  static func wait(port: Int) throws {
    for _ in 0..<600 {
      if (try? Connection(port: port)) != nil { return }
      usleep(100_000)
    }
    throw Failure("The server on port \(port) does not start.")
  }

  /// Returns the body of a successful response.
  func get(_ path: String) throws -> Data {
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
    else { throw Failure("The server doesn't accept the request.") }
    var received = 0
    var bodyStart: Int?
    var length = 0
    while true {
      if bodyStart == nil, let end = endOfHead(received) {
        bodyStart = end
        length = try contentLength(buffer[..<end])
      }
      if let bodyStart, received >= bodyStart + length {
        return Data(buffer[bodyStart..<(bodyStart + length)])
      }
      let room = buffer.count - received
      let count = buffer.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress.map { $0 + received }, room, 0)
      }
      guard count > 0 else { throw Failure("The server closed the connection.") }
      received += count
    }
  }

  private func endOfHead(_ received: Int) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard received >= mark.count else { return nil }
    return (mark.count...received).first { buffer[($0 - mark.count)..<$0].elementsEqual(mark) }
  }

  private func contentLength(_ head: ArraySlice<UInt8>) throws -> Int {
    let lines = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
    guard lines.first?.contains(" 200 ") == true,
      let line = lines.first(where: { $0.hasPrefix("content-length:") }),
      let length = Int(line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces))
    else { throw Failure("The server responded: \(lines.joined(separator: ", "))") }
    return length
  }
}
