import Foundation

/// The tickets of the customers' orders, by the response they received.
struct Ledger: Codable, Sendable {
  /// Orders that were acknowledged.
  var acknowledged: [String] = []
  /// Orders that were refused.
  var refused: [String] = []
  /// Orders whose response was lost.
  var unknown: [String] = []

  mutating func note(_ ticket: String, _ outcome: Server.Outcome) {
    switch outcome {
    case .done: acknowledged.append(ticket)
    case .refused: refused.append(ticket)
    case .unknown: unknown.append(ticket)
    }
  }

  func write(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(filePath: path), options: .atomic)
  }

  init() {}

  init(contentsOf path: String) throws {
    let data = try Data(contentsOf: URL(filePath: path))
    self = try JSONDecoder().decode(Ledger.self, from: data)
  }
}
