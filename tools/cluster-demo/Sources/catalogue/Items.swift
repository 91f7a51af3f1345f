import Hummingbird

/// A product in responses.
struct ProductItem: ResponseCodable, Hashable {
  let code: String
  let title: String
  let stock: Int
}

/// A request to change a product. Missing values remain unchanged.
struct ProductChange: Codable {
  var title: String?
  var stock: Int?
}

/// A request for an order.
struct OrderItem: ResponseCodable, Hashable {
  /// The client's name for the order.
  let ticket: String
  let code: String
  let quantity: Int
}

/// The complete contents of one process's store.
struct StateItem: ResponseCodable, Hashable {
  /// The newest commit.
  let sequence: UInt64
  let products: [ProductItem]
  let orders: [OrderItem]
}

/// The progress of one process.
struct HealthItem: ResponseCodable {
  let sequence: UInt64
  let lag: UInt64
  /// The number of commit groups that the process has appended to the log.
  let appends: UInt64
  /// The number of times another process appended first.
  let lostRaces: UInt64
  /// The error that prevents the process from following the log.
  let problem: String?
}
