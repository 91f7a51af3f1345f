import ArborJSON
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// Access control of requests.
@Suite struct RequestGateTests {
  @Test("Requests of the page are accepted")
  func letsThePageIn() throws {
    try ServedStore.use { served in
      #expect(try served.client.get("/", headers: ["Authorization": nil]).status == 200)
      #expect(try served.client.get("/api/schema").status == 200)
      let named = try served.client.get(
        "/api/schema", headers: ["Host": "localhost:\(served.client.port)"])
      #expect(named.status == 200)
      let own = [
        "Origin": "http://127.0.0.1:\(served.client.port)", "Sec-Fetch-Site": "same-origin",
      ]
      #expect(try served.client.get("/api/schema", headers: own).status == 200)
    }
  }

  /// Prevents DNS rebinding: an attacker's host name may resolve to this machine.
  @Test("Requests to other hosts are refused")
  func refusesOtherHosts() throws {
    try ServedStore.use { served in
      let port = served.client.port
      let hosts = [
        nil, "evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:\(port + 1)",
        "127.0.0.1:\(port).evil.example", "0.0.0.0:\(port)", "",
      ]
      for path in ["/", "/api/schema"] {
        for host in hosts {
          let answer = try served.client.get(path, headers: ["Host": host])
          #expect(answer.status == 403, "\(host ?? "none")")
          #expect(answer.message == "The Host header doesn't name this server.")
        }
      }
    }
  }

  @Test("Requests from other sites are rejected")
  func refusesOtherPages() throws {
    try ServedStore.use { served in
      let port = served.client.port
      for origin in [
        "http://evil.example", "null", "https://127.0.0.1:\(port)", "http://127.0.0.1:1",
        "http://127.0.0.1:\(port).evil.example", "",
      ] {
        let answer = try served.client.get("/api/schema", headers: ["Origin": origin])
        #expect(answer.status == 403, "\(origin)")
        #expect(answer.message == "The Origin header names another site.")
      }
      for site in ["cross-site", "same-site", "other"] {
        let answer = try served.client.get("/", headers: ["Sec-Fetch-Site": site])
        #expect(answer.status == 403, "\(site)")
        #expect(answer.message == "The request comes from another site.")
      }
    }
  }

  @Test("A valid token is required")
  func asksForTheToken() throws {
    try ServedStore.use { served in
      let token = served.client.token
      let guesses = [
        nil, "", token, "Bearer", "Bearer ", "Bearer \(token)0", "Bearer \(token.dropLast())",
        "bearer \(token)", "Basic \(token)", "Bearer \(String(token.reversed()))",
      ]
      for path in ["schema", "objects?entity=Office", "health", "changes", "check", "nothing"] {
        for guess in guesses {
          let answer = try served.client.get("/api/\(path)", headers: ["Authorization": guess])
          #expect(answer.status == 401, "\(path) \(guess ?? "none")")
          #expect(
            answer.message
              == "The token is missing or expired. Open the address that was printed.")
        }
      }
      // The address must not contain the token, because it would be visible.
      let inAddress = try served.client.get(
        "/api/schema?token=\(token)", headers: ["Authorization": nil])
      #expect(inAddress.status == 401)
    }
  }

  @Test("Tokens are long and unique")
  func tokensAreLongAndNew() {
    let tokens = (0..<100).map { _ in RequestGate.makeToken() }
    #expect(Set(tokens).count == 100)
    #expect(tokens.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }

  @Test("Other methods are refused")
  func answersOtherMethodsWithRefusal() throws {
    try ServedStore.use { served in
      for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD", "TRACE", "get"] {
        let answer = try served.client.send(served.client.text(method, "/api/schema"))
        #expect(answer.status == 405, "\(method)")
      }
      // A CORS preflight request is rejected.
      let preflight = try served.client.send(
        served.client.text(
          "OPTIONS", "/api/edit",
          headers: ["Origin": "http://evil.example", "Access-Control-Request-Method": "POST"]))
      #expect(preflight.status == 403)
      #expect(preflight.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
      #expect(try served.client.post("/api/schema", [:]).status == 405)
      #expect(try served.client.get("/api/edit").status == 405)
      #expect(try served.client.post("/style.css", [:]).status == 405)
    }
  }

  @Test("Unauthorized requests are rejected before their body is read")
  func readsNoBodyOfStrangers() throws {
    try ServedStore.use { served in
      let began = ContinuousClock.now
      let answer = try served.client.send(
        served.client.text(
          "POST", "/api/check",
          headers: ["Authorization": "Bearer 0", "Content-Length": "1000000"]))
      #expect(answer.status == 401)
      #expect(began.duration(to: .now) < HTTPLimits().bodyTime / 2)
    }
  }

  /// Requires a content type that HTML forms of other pages cannot send.
  @Test("The body of a POST must be declared as JSON")
  func postsHaveToBeJSON() throws {
    try ServedStore.use(writing: true) { served in
      let types = [
        nil, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
        "application/jsonp", "text/plain; application/json",
      ]
      for type in types {
        let request = served.client.text(
          "POST", "/api/edit", headers: ["Content-Type": type], body: "{}")
        let answer = try served.client.send(request)
        #expect(answer.status == 415, "\(type ?? "none")")
      }
      let named = served.client.text(
        "POST", "/api/edit", headers: ["Content-Type": "application/json; charset=utf-8"],
        body: "{}")
      #expect(try served.client.send(named).status == 400)
    }
  }

  @Test("Every response has security headers")
  func everyAnswerIsProtected() throws {
    try ServedStore.use { served in
      let answers = [
        try served.client.get("/"), try served.client.get("/style.css"),
        try served.client.get("/app.js"), try served.client.get("/api/schema"),
        try served.client.get("/nothing"), try served.client.get("/api/schema?x=%ZZ"),
        try served.client.get("/api/schema", headers: ["Host": "evil.example"]),
      ]
      for answer in answers {
        let policy = try #require(answer.headers["content-security-policy"])
        #expect(
          policy == "default-src 'none'; script-src 'self'; style-src 'self'; "
            + "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["x-frame-options"] == "DENY")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
        #expect(answer.headers["set-cookie"] == nil)
      }
    }
  }
}
