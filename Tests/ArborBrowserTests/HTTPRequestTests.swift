import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

/// Malformed, oversized and slow requests.
@Suite struct HTTPRequestTests {
  @Test("Parameters and headers are read")
  func readsParametersAndHeaders() throws {
    let head = "GET /api/a%20b?x=1&y=a+b%26&x=2&empty=&%C3%A4 HTTP/1.1\r\nHost:  here \r\nA-b: c"
    let request = try HTTPRequest(head: Array(head.utf8)[...], HTTPLimits())
    #expect(request.method == "GET")
    #expect(request.path == "/api/a b")
    #expect(request.parameter("x") == "1")
    #expect(request.parameters("x") == ["1", "2"])
    #expect(request.parameter("y") == "a b&")
    #expect(request.parameter("empty") == nil)
    #expect(request.parameter("ä") == nil)
    #expect(request.headers == ["host": "here", "a-b": "c"])
  }

  @Test("Malformed requests are refused")
  func refusesWhatIsMalformed() throws {
    try ServedStore.use { served in
      let host = "Host: 127.0.0.1:\(served.client.port)"
      let cases: [(String, Int, String)] = [
        ("GET /\r\n\(host)", 400, "The request line is malformed."),
        ("GET  / HTTP/1.1\r\n\(host)", 400, "The request line is malformed."),
        ("GET http://evil/ HTTP/1.1\r\n\(host)", 400, "The request line is malformed."),
        ("GET / HTTP/1.0\r\n\(host)", 505, "The version is not HTTP/1.1."),
        ("GET / HTTP/2\r\n\(host)", 505, "The version is not HTTP/1.1."),
        ("GET /%ZZ HTTP/1.1\r\n\(host)", 400, "The path is malformed."),
        ("GET /?a=%ZZ HTTP/1.1\r\n\(host)", 400, "A parameter is malformed."),
        ("GET / HTTP/1.1\r\n\(host)\r\n\(host)", 400, "The header host occurs twice."),
        ("GET / HTTP/1.1\r\n\(host)\r\nA b: c", 400, "The name of a header is malformed."),
        ("GET / HTTP/1.1\r\n\(host)\r\n folded", 400, "A header has no colon."),
        ("GET / HTTP/1.1\r\n\(host)\r\n: c", 400, "The name of a header is malformed."),
        ("GET / HTTP/1.1\n\(host)", 400, "A line doesn't end with CR LF."),
        ("GET / HTTP/1.1\r\n\(host)\r\nA: \u{1}", 400, "The request head is not text."),
        ("GET / HTTP/1.1\r\n\(host)\r\nA: \u{0}", 400, "The request head is not text."),
        (
          "POST /api/edit HTTP/1.1\r\n\(host)\r\nContent-Length: -1", 400,
          "The Content-Length is not a number."
        ),
        (
          "POST /api/edit HTTP/1.1\r\n\(host)\r\nContent-Length: 0x1", 400,
          "The Content-Length is not a number."
        ),
        (
          "POST /api/edit HTTP/1.1\r\n\(host)\r\nTransfer-Encoding: chunked", 411,
          "A request body needs a Content-Length."
        ),
        (
          "POST /api/edit HTTP/1.1\r\n\(host)\r\nContent-Length: 99999999", 413,
          "The request body exceeds the limit of 1048576 bytes."
        ),
        (
          "GET / HTTP/1.1\r\n\(host)\r\n\r\nGET / HTTP/1.1\r\n\(host)", 400,
          "The connection sent more than one request."
        ),
      ]
      for (head, status, message) in cases {
        let answer = try served.client.send(head + "\r\n\r\n")
        #expect(answer.status == status, "\(head)")
        #expect(answer.message == message)
      }
    }
  }

  @Test("The size of the request head is limited")
  func boundsTheHead() throws {
    try ServedStore.use { served in
      let long = served.client.text(
        "GET", "/api/schema", headers: ["A": String(repeating: "x", count: 17 << 10)])
      #expect(try served.client.send(long).status == 431)
      let many = (0..<70).reduce(into: [String: String?]()) { $0["H\($1)"] = "x" }
      let answer = try served.client.get("/api/schema", headers: many)
      #expect(answer.status == 431)
      #expect(answer.message == "The request has more than 64 headers.")
      let endless = try served.client.send(String(repeating: "x", count: 1 << 20))
      #expect(endless.message == "The request head exceeds the limit of 16384 bytes.")
    }
  }

  @Test("The time for a request is limited")
  func boundsTheTime() throws {
    var limits = HTTPLimits()
    limits.headTime = .milliseconds(400)
    limits.bodyTime = .milliseconds(100)
    try ServedStore.use(limits: limits) { served in
      let head = try served.client.send("GET / HTTP/1.1\r\nHost: ")
      #expect(head.status == 408)
      #expect(head.message == "The request head did not arrive in time.")
      let body = try served.client.send(
        served.client.text("POST", "/api/check", headers: ["Content-Length": "10"], body: "{"))
      #expect(body.status == 408)
      #expect(body.message == "The request body did not arrive in time.")
      // Sending single bytes doesn't extend the time limit.
      let connection = try served.client.connect()
      let began = ContinuousClock.now
      while connection.write(Array("G".utf8), until: .now + .seconds(1)), !connection.isOver {
        Thread.sleep(forTimeInterval: 0.01)
        if began.duration(to: .now) > .seconds(10) { break }
      }
      #expect(began.duration(to: .now) < .seconds(10))
    }
  }

  @Test(
    "Arbitrary bytes are answered or rejected, and the server keeps running",
    arguments: [UInt64.random(in: 0...(.max))])
  func survivesAnyBytes(seed: UInt64) throws {
    var limits = HTTPLimits()
    limits.headTime = .milliseconds(400)
    try ServedStore.use(limits: limits) { served in
      var random = SeededRandom(seed: seed)
      let whole = Array(served.client.text("GET", "/api/schema").utf8)
      for _ in 0..<20 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...5, using: &random) {
          let index = Int.random(in: bytes.indices, using: &random)
          bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        let connection = try served.client.connect()
        _ = connection.write(bytes, until: .now + .seconds(5))
        let answer = RawClient.Answer(served.client.readAll(connection))
        #expect([0, 200, 400, 401, 403, 404, 405, 408, 505].contains(answer.status), "\(bytes)")
      }
      #expect(try served.client.get("/api/schema").status == 200)
    }
  }
}
