import ArgumentParser
import Foundation

/// Simulates customers who order from every process for a while and record the responses.
struct Order: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Places orders with all processes concurrently, and records the outcomes.")

  /// The initial stock of each product, which exceeds the number of orders.
  static let stock = 1_000_000

  @Option(name: .customLong("port"), help: "The port of each process.")
  var ports: [Int]

  @Option(help: "The duration in seconds.")
  var seconds = 20

  @Option(help: "The number of concurrent customers per process.")
  var customers = 4

  @Option(help: "The number of products.")
  var products = 20

  @Option(help: "The path of the file for the outcome of each order.")
  var ledger: String

  func run() async throws {
    let servers = ports.map(Server.init)
    guard let first = servers.first else { throw ValidationError("Pass at least one --port.") }
    for number in 1...products {
      let item = ProductItem(code: "P\(number)", title: "Product \(number)", stock: Self.stock)
      guard case .done = await first.send(item, "POST", "products") else {
        throw ValidationError(
          "The process at port \(first.port) did not accept product P\(number). Check its log.")
      }
    }
    let board = Board()
    try await withThrowingTaskGroup(of: Void.self) { group in
      let end = ContinuousClock.now + .seconds(seconds)
      for server in servers {
        for customer in 1...customers {
          group.addTask { try await order(from: server, customer, until: end, on: board) }
        }
      }
      group.addTask {
        while ContinuousClock.now < end {
          try await Task.sleep(for: .seconds(1))
          say(await board.news())
        }
      }
      try await group.waitForAll()
    }
    try await board.ledger.write(to: ledger)
  }

  private func order(
    from server: Server, _ customer: Int, until end: ContinuousClock.Instant, on board: Board
  ) async throws {
    var number = 0
    while ContinuousClock.now < end {
      number += 1
      let code = "P\(Int.random(in: 1...products))"
      let ticket = "\(server.port)-\(customer)-\(number)"
      let outcome = await server.send(
        OrderItem(ticket: ticket, code: code, quantity: 1), "POST", "orders")
      await board.note(ticket, outcome)
      if number % 10 == 0 {
        _ = await server.send(
          ProductChange(title: "Product of \(ticket)"), "PUT", "products/\(code)")
      }
      if case .done = outcome { continue }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}

/// The responses that all customers have received.
private actor Board {
  private(set) var ledger = Ledger()
  private var told = 0

  func note(_ ticket: String, _ outcome: Server.Outcome) { ledger.note(ticket, outcome) }

  /// Returns a line that summarizes the events since the previous one.
  func news() -> String {
    let count = ledger.acknowledged.count
    defer { told = count }
    return "  \(count - told) orders in a second; \(count) acknowledged, "
      + "\(ledger.refused.count) refused, \(ledger.unknown.count) unknown"
  }
}
