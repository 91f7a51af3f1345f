import ArborJSON
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An HTTP client that sends exactly the given bytes.
struct RawClient {
  let port: Int
  let token: String

  init(_ browser: StoreBrowser) throws {
    port = try #require(browser.url.port)
    let fragment = try #require(browser.url.fragment)
    token = String(fragment.dropFirst("token=".count))
  }

  /// The response of a server.
  struct Answer {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    /// Parses a response; the status is 0 if there is none.
    init(_ bytes: [UInt8]) {
      let text = String(decoding: bytes, as: UTF8.self)
      let parts = text.components(separatedBy: "\r\n\r\n")
      let lines = parts[0].components(separatedBy: "\r\n")
      status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
      headers = lines.dropFirst().reduce(into: [:]) { headers, line in
        let pair = line.split(separator: ":", maxSplits: 1)
        if pair.count == 2 {
          headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
        }
      }
      body = Array(bytes.dropFirst(parts[0].utf8.count + 4))
    }

    var json: JSONValue { (try? JSONValue.parse(Data(body))) ?? .null }
    var message: String? { json["error"]?["message"]?.string }
  }

  struct NotConnected: Error {}

  func connect() throws -> Connection { try Self.connect(to: port) }

  /// Opens a connection to a port on this machine.
  static func connect(to port: Int) throws -> Connection {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let connection = Connection(descriptor)
    guard result == 0 else { throw NotConnected() }
    return connection
  }

  /// Sends text and reads the response until the server closes the connection.
  func send(_ text: String) throws -> Answer {
    let connection = try connect()
    _ = connection.write(Array(text.utf8), until: .now + .seconds(10))
    return Answer(readAll(connection))
  }

  func readAll(_ connection: Connection) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let more = connection.read(atMost: 1 << 16, until: .now + .seconds(20))
      if more.isEmpty { return bytes }
      bytes += more
    }
  }

  /// Returns the text of a request as the page sends it; `nil` omits a header.
  func text(
    _ method: String = "GET", _ target: String, headers changes: [String: String?] = [:],
    body: String = ""
  ) -> String {
    var headers: [String: String?] = [
      "Host": "127.0.0.1:\(port)", "Authorization": "Bearer \(token)",
    ]
    if method == "POST" {
      headers["Content-Type"] = "application/json"
      headers["Content-Length"] = "\(body.utf8.count)"
    }
    headers.merge(changes) { $1 }
    let lines = headers.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
    return "\(method) \(target) HTTP/1.1\r\n" + lines.sorted().joined() + "\r\n" + body
  }

  func get(_ target: String, headers: [String: String?] = [:]) throws -> Answer {
    try send(text("GET", target, headers: headers))
  }

  /// Sends a GET request with parameters, which are escaped.
  func get(_ path: String, _ parameters: KeyValuePairs<String, String>) throws -> Answer {
    let query = parameters.map { name, value in
      let text = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return "\(name)=\(text)"
    }
    return try get(path + "?" + query.joined(separator: "&"))
  }

  func post(_ target: String, _ body: JSONValue) throws -> Answer {
    try send(text("POST", target, body: body.text(.compact)))
  }
}
