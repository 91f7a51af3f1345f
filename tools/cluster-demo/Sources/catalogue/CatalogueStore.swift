import ArborData

/// The products and orders in the shared store.
struct CatalogueStore: Sendable {
  let store: PersistentStore

  static var model: ManagedObjectModel {
    get throws {
      try ManagedObjectModel {
        EntityDescription("Product") {
          AttributeDescription("code", .string, .unique)
          AttributeDescription("title", .string, .default(""))
          AttributeDescription("stock", .integer64, .default(0))
          RelationshipDescription(
            "orders", to: "Order", inverse: "product", .toMany, deleteRule: .deny)
        }
        EntityDescription("Order") {
          // Not unique, so that an order that is written twice can be detected.
          AttributeDescription("ticket", .string, .indexed)
          AttributeDescription("quantity", .integer64, .default(1))
          RelationshipDescription("product", to: "Product", inverse: "orders")
        }
      }
    }
  }

  func products() async throws -> [ProductItem] {
    try await store.perform { context in
      try context.objects("Product").order(by: "code").fetch().map(Self.item)
    }
  }

  func product(_ code: String) async throws -> ProductItem? {
    try await store.perform { context in
      try context.fetchOne("Product", matching: "code == \(code)").map(Self.item)
    }
  }

  func insert(_ item: ProductItem) async throws {
    try await store.perform { context in
      let product = try context.insert("Product")
      product["code"] = item.code
      product["title"] = item.title
      product["stock"] = item.stock
    }
  }

  /// Changes a product. Returns `nil` if it doesn't exist.
  func change(_ code: String, _ change: ProductChange) async throws -> ProductItem? {
    try await store.perform { context in
      guard let product = try context.fetchOne("Product", matching: "code == \(code)") else {
        return nil
      }
      if let title = change.title { product["title"] = title }
      if let stock = change.stock { product["stock"] = stock }
      return Self.item(product)
    }
  }

  /// The outcome of an order.
  enum Outcome { case ordered, unknownProduct, outOfStock }

  /// Takes an order from the stock, even while other processes handle orders for the same product.
  func order(_ item: OrderItem) async throws -> Outcome {
    try await store.perform(maximumRetries: 100) { context in
      guard let product = try context.fetchOne("Product", matching: "code == \(item.code)") else {
        return .unknownProduct
      }
      let stock: Int = product["stock"]
      guard item.quantity > 0, stock >= item.quantity else { return .outOfStock }
      product["stock"] = stock - item.quantity
      let order = try context.insert("Order")
      order["ticket"] = item.ticket
      order["quantity"] = item.quantity
      order["product"] = product
      return .ordered
    }
  }

  /// Returns the entire contents, from a single commit unless another process writes meanwhile.
  func state() async throws -> StateItem {
    let sequence = store.sharing?.sequence ?? 0
    let products = try await products()
    let orders = try await store.perform { context in
      try context.objects("Order").order(by: "ticket").fetch().map { order in
        let product: ManagedObject? = order["product"]
        return OrderItem(
          ticket: order["ticket"], code: product.map { $0["code"] } ?? "",
          quantity: order["quantity"])
      }
    }
    return StateItem(sequence: sequence, products: products, orders: orders)
  }

  var health: HealthItem {
    let sharing = store.sharing
    return HealthItem(
      sequence: sharing?.sequence ?? 0, lag: sharing?.lag ?? 0, appends: sharing?.appends ?? 0,
      lostRaces: sharing?.lostRaces ?? 0, problem: sharing?.problem?.message)
  }

  private static func item(_ product: ManagedObject) -> ProductItem {
    ProductItem(code: product["code"], title: product["title"], stock: product["stock"])
  }
}
