import Hummingbird

/// A product as clients get it.
struct ProductItem: ResponseCodable, Hashable {
  let code: String
  let title: String
  let stock: Int
}

/// What clients send to change a product; what is left out stays.
struct ProductChange: Codable {
  var title: String?
  var stock: Int?
}

/// An order as clients send it.
struct OrderItem: ResponseCodable, Hashable {
  /// What the client calls the order.
  let ticket: String
  let code: String
  let quantity: Int
}

/// Everything that one process has.
struct StateItem: ResponseCodable, Hashable {
  /// The newest commit.
  let sequence: UInt64
  let products: [ProductItem]
  let orders: [OrderItem]
}

/// How far one process is.
struct HealthItem: ResponseCodable {
  let sequence: UInt64
  let lag: UInt64
  /// How many groups of commits it has added to the log.
  let appends: UInt64
  /// How often another process was faster.
  let lostRaces: UInt64
  /// What keeps it from following the log.
  let problem: String?
}
