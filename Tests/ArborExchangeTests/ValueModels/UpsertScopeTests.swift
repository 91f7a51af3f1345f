import ArborExchange
import ArborModel
import ArborObjects
import Testing

/// Upserts that leave the objects of other sources alone.
@Suite struct UpsertScopeTests {
  private struct Product: ValueModel {
    var sku: Int
    var offers: [Offer]?
    static let uniquingKeys: Set<String> = ["sku"]
  }

  private struct Offer: ValueModel {
    var number: Int
    var price: Int?
    var supplier: Supplier?
    static let uniquingKeys: Set<String> = ["number"]
  }

  private struct Supplier: ValueModel {
    var code: String
    static let uniquingKeys: Set<String> = ["code"]
  }

  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws { try self.init(isOrdered: false) }

  private init(isOrdered: Bool) throws {
    store = try PersistentStore(
      model: ManagedObjectModel(entities: [
        EntityDescription(
          name: "Product",
          attributes: [AttributeDescription(name: "sku", type: .integer64, isOptional: true)],
          relationships: [
            RelationshipDescription(
              name: "offers", destination: "Offer", inverse: "product", isToMany: true,
              isOrdered: isOrdered)
          ]),
        EntityDescription(
          name: "Offer",
          attributes: [
            AttributeDescription(name: "number", type: .integer64, isOptional: true),
            AttributeDescription(name: "price", type: .integer64, isOptional: true),
          ],
          relationships: [
            RelationshipDescription(
              name: "product", destination: "Product", inverse: "offers", isOptional: false),
            RelationshipDescription(name: "supplier", destination: "Supplier", inverse: "offers"),
          ]),
        EntityDescription(name: "SpecialOffer", parent: "Offer", attributes: []),
        EntityDescription(
          name: "Supplier",
          attributes: [AttributeDescription(name: "code", type: .string, isOptional: true)],
          relationships: [
            RelationshipDescription(
              name: "offers", destination: "Offer", inverse: "supplier", isToMany: true)
          ]),
      ]), at: .inMemory)
    context = store.makeContext()
    let (a, b) = (Supplier(code: "A"), Supplier(code: "B"))
    try context.upsert(
      Product(
        sku: 1,
        offers: [
          Offer(number: 1, price: 10, supplier: a), Offer(number: 2, price: 20, supplier: a),
          Offer(number: 3, price: 30, supplier: b), Offer(number: 4, price: 40, supplier: b),
        ]))
    try context.commit()
  }

  /// Commits, checks the store and returns the numbers and prices of the product's offers.
  private func offers(isOrdered: Bool = false) throws -> [String] {
    try context.commit()
    try store.check()
    let product = try #require(try context.fetch("Product").first)
    let offers = try product.objects(forKey: "offers").fetch().map { offer in
      "\(offer["number"] as Int64? ?? 0): \(offer["price"] as Int64? ?? 0)"
    }
    return isOrdered ? offers : offers.sorted()
  }

  private func own(_ code: String) throws -> UpsertScope {
    .objects(["Offer": try FetchPredicate(format: "supplier.code == %@", code)])
  }

  @Test("A predicate keeps the members that another source owns")
  func predicates() throws {
    let removed = try #require(try context.fetch("Offer", matching: "number == 2").first)
    try context.upsert(
      Product(
        sku: 1,
        offers: [
          Offer(number: 1, price: 11, supplier: Supplier(code: "A")),
          Offer(number: 5, price: 50, supplier: Supplier(code: "A")),
        ]), within: own("A"))
    #expect(try removed.object(forKey: "product") == nil)
    context.delete(removed)
    #expect(try offers() == ["1: 11", "3: 30", "4: 40", "5: 50"])
    try context.upsert(Product(sku: 1, offers: []), within: own("C"))
    #expect(!context.hasChanges)
    // Without a scope, members of other sources are unlinked, which their mandatory link forbids.
    try context.upsert(Product(sku: 1, offers: []))
    #expect(throws: ArborError.self) { try context.commit() }
    context.rollback()
    #expect(try offers().count == 4)
  }

  @Test("Objects outside of the scope are not matched")
  func matching() throws {
    let other = try #require(try context.fetch("Offer", matching: "number == 3").first)
    try context.upsert(
      Product(
        sku: 1,
        offers: [1, 2, 3].map { Offer(number: $0, price: 7, supplier: Supplier(code: "A")) }),
      within: own("A"))
    #expect(try offers() == ["1: 7", "2: 7", "3: 30", "3: 7", "4: 40"])
    #expect(other["price"] == 30)
  }

  @Test("Additions unlink nothing and update what they name")
  func additions() throws {
    let product = Product(
      sku: 1,
      offers: [
        Offer(number: 3, price: 31, supplier: nil), Offer(number: 6, price: 60, supplier: nil),
      ])
    try context.upsert(product, within: .additions)
    #expect(try offers() == ["1: 10", "2: 20", "3: 31", "4: 40", "6: 60"])
    try context.upsert(product, within: .additions)
    try context.upsert(Product(sku: 1, offers: []), within: .additions)
    #expect(!context.hasChanges)
  }

  @Test("Ordered members outside of the scope come first, and additions last")
  func orders() throws {
    let ordered = try UpsertScopeTests(isOrdered: true)
    func offer(_ number: Int) -> Offer {
      Offer(number: number, price: number, supplier: Supplier(code: "A"))
    }
    try ordered.context.upsert(
      Product(sku: 1, offers: [offer(2), offer(5), offer(1)]), within: own("A"))
    #expect(try ordered.offers(isOrdered: true) == ["3: 30", "4: 40", "2: 2", "5: 5", "1: 1"])
    try ordered.context.upsert(
      Product(sku: 1, offers: [offer(8), offer(2)]), within: .additions)
    #expect(
      try ordered.offers(isOrdered: true) == ["3: 30", "4: 40", "2: 2", "5: 5", "1: 1", "8: 8"])
  }

  @Test("A scope of a parent entity holds for subentities, and unknown entities are rejected")
  func entities() throws {
    let special = try context.insert("SpecialOffer")
    special["number"] = 9
    try special.setObject(context.fetch("Product").first, forKey: "product")
    try context.commit()
    try context.upsert(Product(sku: 1, offers: []), within: own("C"))
    #expect(!context.hasChanges)
    let narrow = UpsertScope.objects([
      "Offer": try FetchPredicate(format: "FALSEPREDICATE"),
      "SpecialOffer": try FetchPredicate(format: "TRUEPREDICATE"),
    ])
    try context.upsert(Product(sku: 1, offers: []), within: narrow)
    #expect(try special.object(forKey: "product") == nil)
    context.rollback()
    let error = #expect(throws: ArborError.self) {
      try context.upsert(
        Product(sku: 1, offers: []),
        within: .objects(["Ofer": FetchPredicate(format: "TRUEPREDICATE")]))
    }
    #expect(
      error?.message == "The model has no entity Ofer. Correct the name. Did you mean Offer?")
    #expect(!context.hasChanges)
    try store.check()
  }
}
