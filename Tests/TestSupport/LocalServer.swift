import ArborLocks
package import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An HTTP server on an ephemeral port that sends canned responses, valid or malformed.
package final class LocalServer: Sendable {
  /// The response to a request for a path.
  package enum Answer: Sendable {
    /// A complete response with status 200.
    case document(String, type: String = "application/json")
    case status(Int, body: String = "")
    case redirect(to: String)
    /// A response whose `Content-Length` exceeds its body.
    case truncated(String, length: Int)
    /// A response with an optional `Content-Length` that is sent until the client disconnects.
    case endless(length: Int?)
    /// A response that starts and then stalls.
    case silent(after: String)
    /// Raw bytes.
    case bytes(String)
  }

  package let port: UInt16
  private let socket: Int32
  private let answers: Lock<[String: Answer]>
  private let log = Lock<(paths: [String], sent: Int)>(([], 0))

  /// The requested paths, in order.
  package var requests: [String] { log.withLock { $0.paths } }
  /// The number of bytes of endless responses that were sent.
  package var endlessBytes: Int { log.withLock { $0.sent } }

  package init(_ answers: [String: Answer] = [:]) throws {
    self.answers = Lock(answers)
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, address, &size) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    socket = descriptor
    Thread { [weak self] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          // Closed only here: the descriptor's number may be reused at once.
          close(descriptor)
          return
        }
        guard let server = self else {
          close(connection)
          close(descriptor)
          return
        }
        Thread {
          server.serve(connection)
          close(connection)
        }.start()
      }
    }.start()
  }

  deinit {
    // Ends the accepting thread.
    shutdown(socket, Int32(SHUT_RDWR))
  }

  package func url(_ path: String) throws -> URL {
    try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
  }

  package func answer(_ path: String, with answer: Answer) {
    answers.withLock { $0[path] = answer }
  }

  private func serve(_ connection: Int32) {
    guard let path = readPath(connection) else { return }
    log.withLock { $0.paths.append(path) }
    let answer = answers.withLock { $0[path] } ?? .status(404)
    switch answer {
    case .document(let body, let type):
      send(connection, head("200 OK", "Content-Type: \(type)", length: body.utf8.count) + body)
    case .status(let status, let body):
      send(connection, head("\(status) Status", length: body.utf8.count) + body)
    case .redirect(let target):
      send(connection, head("302 Found", "Location: \(target)", length: 0))
    case .truncated(let body, let length):
      send(connection, head("200 OK", "Content-Type: application/json", length: length) + body)
    case .endless(let length):
      sendEndlessly(connection, length)
    case .silent(let text):
      send(connection, text)
      var byte: UInt8 = 0
      _ = recv(connection, &byte, 1, 0)
    case .bytes(let text):
      send(connection, text)
    }
  }

  private func sendEndlessly(_ connection: Int32, _ length: Int?) {
    guard send(connection, head("200 OK", "Content-Type: application/json", length: length)) else {
      return
    }
    let block = String(repeating: " ", count: 1 << 16)
    // Far more than a client should read before it disconnects.
    for _ in 0..<16_384 {
      guard send(connection, block) else { return }
      log.withLock { $0.sent += block.utf8.count }
      // At the pace of a fast network, so that the client has time to disconnect.
      usleep(2000)
    }
  }

  private func head(_ status: String, _ field: String = "X: y", length: Int?) -> String {
    let length = length.map { "Content-Length: \($0)\r\n" } ?? ""
    return "HTTP/1.1 \(status)\r\n\(field)\r\n\(length)Connection: close\r\n\r\n"
  }

  private func readPath(_ connection: Int32) -> String? {
    var request: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4096)
    while !request.reversed().starts(with: Array("\n\r\n\r".utf8)) {
      let count = recv(connection, &block, block.count, 0)
      guard count > 0 else { return nil }
      request += block[..<count]
    }
    let words = String(decoding: request, as: UTF8.self).split(separator: " ")
    return words.count > 1 ? String(words[1]) : nil
  }

  @discardableResult
  private func send(_ connection: Int32, _ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { part in
        Glibc.send(connection, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }
}
