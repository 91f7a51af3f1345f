import Foundation
import Testing

@testable import ArborBrowser

/// The client side of a WebSocket. Sends texts in single frames, and receives fragmented ones, too.
struct WebSocket {
  private let connection: Connection

  struct Closed: Error {}

  /// Opens a WebSocket to a port on this machine.
  init(port: Int, path: String) throws {
    connection = try RawClient.connect(to: port)
    let request =
      "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\n"
      + "Connection: Upgrade\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
      + "Sec-WebSocket-Version: 13\r\n\r\n"
    _ = connection.write(Array(request.utf8), until: .now + .seconds(10))
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try read(1) }
  }

  /// Sends a text. The mask is zero, because there is no proxy between the two programs.
  func send(_ text: String) throws {
    let body = Array(text.utf8)
    var frame: [UInt8] = [0x81]
    let count = UInt64(body.count)
    if count < 126 {
      frame.append(0x80 | UInt8(count))
    } else {
      let width = count < 1 << 16 ? 2 : 8
      frame.append(0x80 | (width == 2 ? 126 : 127))
      frame += (0..<width).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
    frame += [0, 0, 0, 0] + body
    guard connection.write(frame, until: .now + .seconds(30)) else { throw Closed() }
  }

  /// Waits for the next text.
  func receive() throws -> String {
    var text: [UInt8] = []
    while true {
      let head = try read(2)
      var count = Int(head[1] & 0x7F)
      if count > 125 {
        count = try read(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
      }
      let body = try read(count)
      // Control frames are not part of a text.
      if head[0] & 0x0F < 3 { text += body }
      if head[0] & 0x8F >= 0x80, head[0] & 0x0F < 3 { return String(decoding: text, as: UTF8.self) }
      if head[0] & 0x0F == 8 { throw Closed() }
    }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = connection.read(atMost: count - bytes.count, until: .now + .seconds(60))
      if more.isEmpty { throw Closed() }
      bytes += more
    }
    return bytes
  }
}
