import Foundation

/// Starts a server of each kind and sends requests to them in turn.
struct Comparison {
  let path: String
  let count: Int64
  /// The number of requests per kind and round, over all connections together.
  let requests: Int

  private static let kinds = ["arbor", "grdb", "none"]
  private static let firstPort = 18_400

  func run(rounds: Int) throws {
    var servers: [Process] = []
    defer {
      for server in servers {
        server.terminate()
        server.waitUntilExit()
      }
    }
    for (index, kind) in Self.kinds.enumerated() {
      let server = Process()
      server.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      server.arguments = ["serve", kind, path, "\(count)", "\(Self.firstPort + index)"]
      try server.run()
      servers.append(server)
    }
    for index in Self.kinds.indices { try Connection.wait(port: Self.firstPort + index) }
    try checkAnswers()
    print("connections\tserver\tp50\tp90\tp99\tof GRDB's p50\tof GRDB's p99")
    for connections in [1, 8] { try compare(connections, rounds) }
  }

  /// Checks that both respond with the same list.
  private func checkAnswers() throws {
    for start in [0, count / 2, count - 5] {
      let answers = try (0..<2).map { index in
        let connection = try Connection(port: Self.firstPort + index)
        return try JSONDecoder().decode([CityItem].self, from: connection.get("/cities/\(start)"))
          .map { "\($0)" }
      }
      guard answers[0] == answers[1], answers[0].count == min(20, Int(count - start)) else {
        throw Failure("The responses after \(start) differ: \(answers)")
      }
    }
  }

  /// The median over the rounds of each percentile; the first round is not counted.
  private func compare(_ connections: Int, _ rounds: Int) throws {
    var measured = Self.kinds.map { _ in [[Double]]() }
    for round in 0...rounds {
      for index in Self.kinds.indices {
        let load = Load(
          port: Self.firstPort + index, connections: connections, requests: requests,
          count: count, seed: UInt64(round))
        let times = try load.run()
        if round > 0 {
          measured[index].append([0.5, 0.9, 0.99].map { times[Int(Double(times.count - 1) * $0)] })
        }
      }
    }
    let medians = measured.map { rounds in
      (0..<3).map { percentile in
        rounds.map { $0[percentile] }.sorted()[rounds.count / 2]
      }
    }
    for (index, kind) in Self.kinds.enumerated() {
      let times = medians[index].map { String(format: "%.0f µs", $0 * 1e6) }
      let ratios = [0, 2].map { String(format: "%.2f", medians[index][$0] / medians[1][$0]) }
      print((["\(connections)", kind] + times + ratios).joined(separator: "\t"))
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
