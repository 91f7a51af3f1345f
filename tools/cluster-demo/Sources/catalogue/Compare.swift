import ArgumentParser
import Foundation

/// Compares the customers' records with the store of each process.
struct Compare: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fails unless all processes agree and have exactly the acknowledged orders.")

  @Option(name: .customLong("port"), help: "The port of each process.")
  var ports: [Int]

  @Option(help: "The path of the file with the outcome of each order.")
  var ledger: String

  @Option(help: "How long to wait until all processes have the same contents, in seconds.")
  var seconds = 60

  func run() async throws {
    let ledger = try Ledger(contentsOf: ledger)
    let states = try await settledStates()
    say(
      "\(ledger.acknowledged.count) orders acknowledged, \(ledger.refused.count) refused, "
        + "\(ledger.unknown.count) without a response")
    var isRight = !ledger.acknowledged.isEmpty
    for (port, state) in zip(ports, states) {
      let problems = Self.problems(of: state, ledger)
      let resolved = Set(state.orders.map(\.ticket)).intersection(ledger.unknown).count
      say(
        "port \(port): \(state.orders.count) orders at commit \(state.sequence), \(resolved) of "
          + "them without a response"
          + (problems.isEmpty ? "; none lost or duplicated" : ""))
      let health = try await Server(port: port).get(HealthItem.self, "health")
      say(
        "  it added \(health.appends) groups of commits to the log, and lost the race "
          + "\(health.lostRaces) times")
      for problem in problems { say("  \(problem)") }
      if !problems.isEmpty { isRight = false }
    }
    let agree = Set(states).count == 1
    say(agree ? "all processes agree" : "THE PROCESSES DIFFER")
    guard isRight, agree else { throw ExitCode.failure }
  }

  /// Returns the contents of every process's store, once all have reached the same commit.
  private func settledStates() async throws -> [StateItem] {
    let servers = ports.map(Server.init)
    let start = ContinuousClock.now
    while true {
      var states: [StateItem] = []
      for server in servers { states.append(try await server.get(StateItem.self, "state")) }
      if Set(states).count == 1 || start.duration(to: .now) > .seconds(seconds) { return states }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  private static func problems(of state: StateItem, _ ledger: Ledger) -> [String] {
    var counts: [String: Int] = [:]
    for order in state.orders { counts[order.ticket, default: 0] += 1 }
    var problems: [String] = []
    func report(_ tickets: [String], _ what: String) {
      if !tickets.isEmpty {
        problems.append(
          "\(tickets.count) \(what): \(tickets.sorted().prefix(5).joined(separator: ", "))")
      }
    }
    report(ledger.acknowledged.filter { counts[$0] == nil }, "ACKNOWLEDGED ORDERS ARE LOST")
    report(counts.filter { $0.value > 1 }.map(\.key), "ORDERS ARE DUPLICATED")
    report(ledger.refused.filter { counts[$0] != nil }, "REFUSED ORDERS EXIST")
    let known = Set(ledger.acknowledged + ledger.refused + ledger.unknown)
    report(counts.keys.filter { !known.contains($0) }, "ORDERS WERE NEVER PLACED")
    // Each order reduces the stock by one, regardless of the process that handles it.
    var sold: [String: Int] = [:]
    for order in state.orders { sold[order.code, default: 0] += order.quantity }
    report(
      state.products.filter { $0.stock + sold[$0.code, default: 0] != Order.stock }.map(\.code),
      "STOCKS DO NOT MATCH THEIR ORDERS")
    return problems
  }
}
