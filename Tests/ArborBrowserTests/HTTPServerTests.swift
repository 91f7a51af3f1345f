import ArborData
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// The number, origin and duration of connections.
@Suite struct HTTPServerTests {
  /// Streams of changes keep connections open, up to the limit.
  @Test("Connections above the limit are refused")
  func refusesConnectionsAboveTheLimit() throws {
    var limits = HTTPLimits()
    limits.connections = 3
    try ServedStore.use(limits: limits) { served in
      let held = try (0..<3).map { _ in
        let connection = try served.client.connect()
        let text = served.client.text("GET", "/api/changes")
        _ = connection.write(Array(text.utf8), until: .now + .seconds(5))
        #expect(!connection.read(atMost: 1 << 16, until: .now + .seconds(5)).isEmpty)
        return connection
      }
      let answer = try served.client.get("/api/schema")
      #expect(answer.status == 503)
      #expect(answer.message == "There are too many connections.")
      #expect(try served.client.get("/").status == 200)
      for connection in held { connection.cut() }
      // Each stream ends on a thread of its own. Until all have, two requests in a row can be too
      // many, so only one has to be answered.
      let began = ContinuousClock.now
      var status = 503
      while status != 200, began.duration(to: .now) < .seconds(30) {
        status = try served.client.get("/api/schema").status
      }
      #expect(status == 200)
    }
  }

  /// Connections without a valid token, whether their headers never arrive or their responses are
  /// never read, don't take the places of valid ones.
  @Test("Connections without a valid token don't take the places of valid ones")
  func whoLacksTheTokenTakesNobodysPlace() throws {
    var limits = HTTPLimits()
    limits.connections = 3
    limits.strangers = 3
    limits.headTime = .seconds(60)
    try ServedStore.use(limits: limits) { served in
      var held: [Connection] = []
      let texts = [
        "", "GET", "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(served.client.port)\r\n",
        served.client.text("GET", "/api/schema", headers: ["Authorization": "Bearer 0"]),
      ]
      for round in 0..<60 {
        let connection = try served.client.connect()
        _ = connection.write(
          Array(texts[round % texts.count].utf8), until: .now + .seconds(5))
        held.append(connection)
        guard round.isMultiple(of: 5) else { continue }
        let began = ContinuousClock.now
        let answer = try served.client.get("/api/schema")
        #expect(answer.status == 200)
        #expect(began.duration(to: .now) < .seconds(5))
      }
      // The oldest ones have been closed.
      #expect(held[0].read(atMost: 1, until: .now + .seconds(5)).isEmpty && held[0].isOver)
      for connection in held { connection.cut() }
    }
  }

  @Test("Connections without a valid token don't prevent an idle server from stopping")
  func whoLacksTheTokenKeepsNoServer() throws {
    var limits = HTTPLimits()
    limits.idleTime = .milliseconds(300)
    try ServedStore.use(limits: limits) { served in
      let end = ContinuousClock.now + .seconds(20)
      var held: [Connection] = []
      while ContinuousClock.now < end, let connection = try? served.client.connect() {
        _ = connection.write(Array("GET /".utf8), until: .now + .seconds(1))
        held.append(connection)
        usleep(20_000)
      }
      #expect(ContinuousClock.now < end)
      for connection in held { connection.cut() }
      served.browser.waitUntilStopped()
    }
  }

  @Test("The server listens on the loopback address only")
  func listensOnThisMachineOnly() throws {
    try ServedStore.use { served in
      let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .ascii)
      let port = String(served.client.port, radix: 16).uppercased()
      let padded = String(repeating: "0", count: 4 - port.count) + port
      let listening = table.split(separator: "\n").map { $0.split(separator: " ") }
        .filter { $0.count > 3 && $0[1].hasSuffix(":\(padded)") && $0[3] == "0A" }
      #expect(listening.map { $0[1] } == ["0100007F:\(padded)"])
      let six = (try? String(contentsOfFile: "/proc/net/tcp6", encoding: .ascii)) ?? ""
      #expect(!six.contains(":\(padded) "))
    }
  }

  @Test("The server stops when it is idle")
  func stopsWhenIdle() throws {
    var limits = HTTPLimits()
    limits.idleTime = .milliseconds(50)
    try ServedStore.use(limits: limits) { served in
      served.browser.waitUntilStopped()
      // The accepting thread may be about to end.
      let began = ContinuousClock.now
      while (try? served.client.connect()) != nil, began.duration(to: .now) < .seconds(10) {}
      #expect(throws: (any Error).self) { try served.client.connect() }
    }
  }

  @Test("Stopping the server ends open streams")
  func stopsAsItIsTold() throws {
    try ServedStore.use { served in
      let connection = try served.client.connect()
      _ = connection.write(
        Array(served.client.text("GET", "/api/changes").utf8), until: .now + .seconds(5))
      #expect(!connection.read(atMost: 1 << 16, until: .now + .seconds(5)).isEmpty)
      served.browser.stop()
      // The stream ends when the server stops.
      let deadline = ContinuousClock.now + .seconds(20)
      while !connection.read(atMost: 1 << 16, until: deadline).isEmpty {}
      #expect(ContinuousClock.now < deadline)
      served.browser.waitUntilStopped()
    }
  }

  @Test("A stopped server answers no request")
  func answersNothingOnceStopped() throws {
    try ServedStore.use { served in
      served.browser.stop()
      // The listener may be about to stop, or accept one more connection.
      let answer = try? served.client.get("/api/schema")
      #expect(answer?.status != 200)
      served.browser.waitUntilStopped()
      // Another server may already have the port.
      #expect((try? served.client.get("/api/schema"))?.status != 200)
    }
  }

  @Test("Stopping waits for a running check, which reads the store")
  func theEndIsThatOfTheCheckToo() throws {
    try ServedStore.use { served in
      _ = try served.client.post("/api/check", [:])
      served.browser.stop()
      served.browser.waitUntilStopped()
      #expect(served.browser.checkUp.state["state"] == "done")
    }
  }

  @Test("A port can be reused immediately")
  func aPortCanBeUsedAgainAtOnce() throws {
    try ServedStore.use { served in
      var options = StoreBrowser.Options()
      options.port = UInt16(served.client.port)
      // The server closes first, so its end of the connection remains in TIME_WAIT.
      #expect(try served.client.get("/").status == 200)
      served.browser.stop()
      served.browser.waitUntilStopped()
      let again = try Self.browser(of: served.store, options)
      #expect(try RawClient(again).get("/").status == 200)
      again.stop()
      again.waitUntilStopped()
    }
  }

  /// Starts a browser, retrying because the former listener is closed shortly after the stop.
  private static func browser(
    of store: PersistentStore, _ options: StoreBrowser.Options
  ) throws -> StoreBrowser {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
      if let browser = try? StoreBrowser(store, options: options) { return browser }
    }
    return try StoreBrowser(store, options: options)
  }

  @Test("A port in use is reported")
  func aPortThatIsTakenIsNamed() throws {
    try ServedStore.use { served in
      var options = StoreBrowser.Options()
      options.port = UInt16(served.client.port)
      let error = #expect(throws: ArborError.self) {
        _ = try StoreBrowser(served.store, options: options)
      }
      #expect(
        error?.message
          == "Port \(served.client.port) of 127.0.0.1 cannot be used: Address already in use. "
          + "Choose another port, or 0 for any free port.")
    }
  }
}
