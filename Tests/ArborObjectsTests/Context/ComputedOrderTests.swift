import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Sorting by computed values, through every access path.
@Suite("Sorting by computed values") struct ComputedOrderTests {
  private func use(
    _ count: Int = 40, _ body: (PersistentStore, ManagedObjectContext) throws -> Void
  ) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Order") {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("price", .integer32, .default(0))
        AttributeDescription("quantity", .integer32, .optional)
        AttributeDescription("latitude", .double, .default(0))
        AttributeDescription("longitude", .double, .default(0))
        RelationshipDescription(
          "lines", to: "Line", inverse: "order", .toMany, deleteRule: .cascade)
      }
      EntityDescription("Line") {
        AttributeDescription("weight", .integer32, .default(0))
        RelationshipDescription("order", to: "Order", inverse: "lines")
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      for index in 0..<count {
        let order = try context.insert("Order")
        order["name"] = "o\(index)"
        order["price"] = index % 7
        order["quantity"] = index % 5 == 4 ? nil : index % 3
        order["latitude"] = Double(index)
        for weight in 0..<index % 4 {
          let line = try context.insert("Line")
          line["weight"] = weight
          line["order"] = order
        }
      }
      try context.commit()
      try body(store, context)
    }
  }

  private func number(_ name: String, of object: ManagedObject) -> Int? {
    if case .integer(let number)? = try? object.value(forKey: name) { Int(number) } else { nil }
  }

  /// Returns the objects sorted by the product, `nil` first and equal ones by ID.
  private func byProduct(_ objects: [ManagedObject], isAscending: Bool = true) -> [ManagedObject] {
    func product(_ object: ManagedObject) -> Int {
      guard let price = number("price", of: object), let quantity = number("quantity", of: object)
      else { return .min }
      return price * quantity
    }
    return objects.enumerated().sorted { left, right in
      let (first, second) = (product(left.element), product(right.element))
      if first != second { return (first < second) == isAscending }
      return left.offset < right.offset
    }.map(\.element)
  }

  @Test("Every access path returns the same computed order")
  func everyWayGivesOneOrder() throws {
    try use { (_, context) throws in
      let all = try context.objects("Order").fetch()
      for isAscending in [true, false] {
        let key = SortKey("price * quantity", isAscending: isAscending)
        let expected = byProduct(all, isAscending: isAscending)
        let query = context.objects("Order").order(by: key)
        #expect(try query.fetch() == expected)
        for limit in [1, 7, 39, 50] {
          #expect(try query.limit(limit).fetch() == Array(expected.prefix(limit)))
          #expect(
            try query.offset(3).limit(limit).fetchIDs()
              == expected.dropFirst(3).prefix(limit).map(\.objectID))
        }
        #expect(try query.first() == expected.first && query.last() == expected.last)
        var found: [ManagedObject] = []
        let cursor = try context.cursor(for: query.request)
        while let object = try cursor.next() { found.append(object) }
        #expect(found == expected)
        var (pages, token): ([ManagedObject], String?) = ([], nil)
        repeat {
          let page = try query.limit(6).page(after: token)
          pages += page.objects
          token = page.next
        } while token != nil
        #expect(pages == expected)
      }
    }
  }

  @Test("A computed order includes pending changes")
  func pendingChangesCount() throws {
    try use { (_, context) throws in
      let all = try context.objects("Order").fetch()
      all[3]["price"] = 1000
      all[3]["quantity"] = 2
      context.delete(all[11])
      let new = try context.insert("Order")
      new["name"] = "new"
      new["price"] = 500
      new["quantity"] = 2
      let expected = byProduct(
        all.filter { !$0.isDeleted } + [new], isAscending: false)
      let query = context.objects("Order").order(by: "-price * quantity")
      #expect(try query.fetch() == expected && query.limit(2).fetch() == [all[3], new])
    }
  }

  @Test("Objects can be sorted by counts, sums and distances")
  func membersAndPlacesAreOrderedBy() throws {
    try use(12) { (_, context) throws in
      let byCount = try context.objects("Order").order(by: "-lines.@count", "name").fetch()
      #expect(byCount.prefix(4).map { $0["name"] } == ["o11", "o3", "o7", "o10"])
      let weight = context.objects("Order").order(by: "-lines.@sum.weight", "name").limit(3)
      #expect(try weight.fetch().map { $0["name"] } == ["o11", "o3", "o7"])
      let nearest = try SortKey.ascending(
        expression: "distanceToLocation:fromLocation:({latitude, longitude}, %@)",
        arguments: [[5.2, 0.0]])
      #expect(
        try context.objects("Order").order(by: nearest).limit(3).fetch().map { $0["name"] } == [
          "o5", "o6", "o4",
        ])
      let texts = context.objects("Order").order(
        by: .descending(expression: "concat('O', name)", options: [.caseInsensitive, .numeric]))
      #expect(try texts.first()?["name"] == "o11")
    }
  }

  @Test("Fetched results follow a computed order")
  func liveResultsFollow() throws {
    try use(6) { (_, context) throws in
      var request = FetchRequest<ManagedObject>(entity: "Order", sortKeys: ["-price * quantity"])
      let all = try context.fetch(FetchRequest<ManagedObject>(entity: "Order"))
      let results = try context.fetchedResults(request)
      #expect(Array(results.objects) == byProduct(all, isAscending: false))
      all[0]["price"] = 99
      all[0]["quantity"] = 9
      let step = try #require(try results.update())
      #expect(step.moves.map(\.after) == [0] && results.objects.first == all[0])

      // An order that depends on other objects is fetched from scratch.
      request.sortKeys = ["-lines.@count", "name"]
      let byLines = try context.fetchedResults(request)
      let before = byLines.objects
      let line = try context.insert("Line")
      line["order"] = before[5]
      for _ in 0..<9 { try context.insert("Line")["order"] = before[5] }
      _ = try byLines.update()
      #expect(byLines.objects.first == before[5])
    }
  }

  @Test("Rows and plans use a computed order")
  func rowsAndPlansKnowTheOrder() throws {
    try use { (_, context) throws in
      var request = FetchRequest<ManagedObject>(entity: "Order", sortKeys: ["-price * quantity"])
      request.propertiesToFetch = ["name"]
      request.fetchLimit = 5
      let names = try context.fetchRows(request).compactMap { $0["name"] }
      #expect(names == (try context.fetch(request).map { try $0.value(forKey: "name") }))
      let plan = "\(try context.explain(request))"
      #expect(plan.contains("sort") && plan.contains("-(price * quantity)"), "\(plan)")
    }
  }

  @Test("Pages can't be ordered by a value that changes")
  func pagesNeedAnOrderThatLasts() throws {
    try use(3) { (_, context) throws in
      let query = context.objects("Order").order(by: "random()")
      #expect(try Set(query.fetch()).count == 3)
      let error = #expect(throws: ArborError.self) { try query.limit(2).page(after: nil) }
      #expect(
        error?.message
          == "Pages cannot be ordered by random(), whose value changes with each evaluation. Order "
          + "by a stable value, or fetch everything at once.")
      #expect(error?.code == .invalidArgument && error?.keyPath == "random()")
    }
  }

  // MARK: Locales

  private static func cities() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("City") { AttributeDescription("name", .string) }
    }
  }

  /// In Swedish, Ä is a letter after Z. In German, it sorts like A.
  @Test("A locale is chosen for a store, and another one for a sort key")
  func localesAreChosen() throws {
    let model = try Self.cities()
    let names = ["Zürich", "Ärla", "Ada", "Örebro"]
    let german = ["Ada", "Ärla", "Örebro", "Zürich"]
    let swedish = ["Ada", "Zürich", "Ärla", "Örebro"]
    for (identifier, own, other) in [
      ("sv_SE", swedish, german), ("de_DE", german, swedish),
    ] {
      var options = StoreOptions()
      options.locale = Locale(identifier: identifier)
      let store = try PersistentStore(model: model, at: .inMemory, options: options)
      defer { store.close() }
      let context = store.makeContext()
      for name in names { try context.insert("City")["name"] = name }
      func fetch(_ keys: [SortKey], _ predicate: FetchPredicate? = nil) throws -> [String] {
        var request = FetchRequest<ManagedObject>(entity: "City", predicate: predicate)
        request.sortKeys = keys
        let fetched = try context.fetch(request).map { $0["name"] as String }
        let live = try context.fetchedResults(request).objects.map { $0["name"] as String }
        let cursor = try context.cursor(for: request)
        var listed: [String] = []
        while let object = try cursor.next() { listed.append(object["name"] as String) }
        request.propertiesToFetch = ["name AS text"]
        request.sortKeys = keys.map {
          SortKey("text", isAscending: $0.isAscending, options: $0.options, locale: $0.locale)
        }
        let rows = try context.fetchRows(request).map { $0["text"] }
        #expect(live == fetched && listed == fetched)
        #expect(rows == fetched.map { .string($0) })
        return fetched
      }
      let key = SortKey.ascending("name", options: .localized)
      let otherLocale = Locale(identifier: identifier == "sv_SE" ? "de" : "sv")
      // The objects are pending in the first round and stored in the second.
      for _ in 0..<2 {
        #expect(try fetch([key]) == own)
        #expect(try fetch([key.reversed]) == own.reversed())
        #expect(try fetch([SortKey("name").localized(otherLocale)]) == other)
        #expect(try fetch([SortKey("-name").localized(otherLocale)]) == other.reversed())
        let late = try fetch([key], "name >[l] 'Zz'")
        #expect(late == (own == swedish ? ["Ärla", "Örebro"] : []))
        let cities = try context.fetch(FetchRequest<ManagedObject>(entity: "City"))
        let matching = try cities.filter { try ("name >[l] 'Zz'" as FetchPredicate).matches($0) }
        #expect(matching.count == late.count)
        try context.commit()
      }
    }
  }

  @Test("Letters are lowercased by the rules of the store's locale")
  func casesFollowTheLocale() throws {
    let model = try Self.cities()
    for (identifier, count) in [("tr_TR", 0), ("en_US", 1)] {
      var options = StoreOptions()
      options.locale = Locale(identifier: identifier)
      let store = try PersistentStore(model: model, at: .inMemory, options: options)
      defer { store.close() }
      let context = store.makeContext()
      try context.insert("City")["name"] = "DIYARBAKIR"
      try context.commit()
      for predicate in ["name CONTAINS[cl] 'diyar'", "name BEGINSWITH[cl] 'di'"] {
        let found = try context.count("City", matching: FetchPredicate(format: predicate))
        #expect(found == count, "\(predicate)")
      }
    }
  }
}

extension ComputedOrderTests {
  @Test("Literals compared or combined with decimals are decimals")
  func decimalsAreExact() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Posting") {
        AttributeDescription("account", .string, .default(""))
        AttributeDescription("amount", .decimal, .optional)
        AttributeDescription("rate", .double, .optional)
        AttributeDescription("tax", .decimal, .optional, .derived("amount * 0.19"))
        AttributeDescription("tenth", .decimal, .optional, .derived("amount * 0.1"))
        AttributeDescription("plus", .decimal, .optional, .derived("amount + 0.2"))
        AttributeDescription("gross", .decimal, .optional, .derived("(1 + 0.19) * amount"))
        AttributeDescription("third", .decimal, .optional, .derived("amount / 3"))
        AttributeDescription("rated", .decimal, .optional, .derived("amount * rate"))
      }
    }
    func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      for text in ["0.1", "100.10", "1.15", "0.7", "12345678901234567.89"] {
        let posting = try context.insert("Posting")
        posting["amount"] = try decimal(text)
        posting["rate"] = 0.19
        posting["account"] = text == "0.1" || text == "0.7" ? "a" : "b"
      }
      try context.commit()
      for posting in try context.fetch("Posting") {
        let amount: Decimal = posting["amount"]
        #expect(posting["tax"] == .decimal(amount * (try decimal("0.19"))))
        #expect(posting["rated"] == .decimal(amount * (try decimal("0.19"))))
        #expect(posting["tenth"] == .decimal(amount / 10))
        #expect(posting["plus"] == .decimal(amount + (try decimal("0.2"))))
        #expect(posting["gross"] == .decimal(amount * (try decimal("1.19"))))
      }
      let rate = try decimal("0.19")
      for (predicate, count) in [
        ("amount + 0.2 == 0.3", 1), ("amount * 0.19 == 19.019", 1), ("amount == 0.3 - 0.2", 1),
        ("amount * \(rate) == 19.019", 1), ("0.1 + 0.2 + amount == 0.4", 1),
        ("amount - 0.1 - 0.2 == 0.4", 1), ("amount * 0.19 == tax", 5),
        ("amount * 0.19 IN {0.2185, 0.133}", 2), ("amount * 0.19 BETWEEN {0.2185, 0.2185}", 1),
        ("TERNARY(amount > 0, amount, 0.5) + 0.2 == 1.35", 1),
      ] as [(FetchPredicate, Int)] {
        #expect(try context.count("Posting", matching: predicate) == count, "\(predicate)")
      }
      let query = context.objects("Posting")
      let rows = try query.rows("account", "sum(amount * 0.1) + 0.2 AS t", groupedBy: ["account"])
      #expect(rows.first { $0["account"] == "a" }?["t"] == .decimal(try decimal("0.28")))
      #expect(
        try query.rows("sum(amount * 0.19) AS t").first?["t"]
          == .decimal(try decimal("2345678991234587.2886")))
      let ordered = try query.order(by: "amount * 0.1").fetch().map { $0["amount"].decimal }
      #expect(ordered.first == (try decimal("0.1")))
    }
  }

  @Test("Parts of dates can be derived, grouped and sorted by in a time zone")
  func partsOfDates() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Posting") {
        AttributeDescription("day", .date, .optional)
        AttributeDescription("text", .string, .default(""))
        AttributeDescription("amount", .decimal, .default(Decimal(1)))
        AttributeDescription(
          "month", .integer16, .optional, .derived("month(day, 'Europe/Berlin')"))
        AttributeDescription(
          "period", .integer32, .optional, .indexed,
          .derived("year(day, 'Europe/Berlin') * 100 + month(day, 'Europe/Berlin')"))
        AttributeDescription("read", .date, .optional, .derived("CAST(text, 'NSDate')"))
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      for text in [
        "2023-12-31T22:59:59Z", "2023-12-31T23:00:00Z", "2024-01-15", "2024-02-01",
        "2024-01-31T23:30:00Z",
      ] {
        let posting = try context.insert("Posting")
        posting["text"] = .string(text)
        posting["day"] = (try FetchPredicate.date(text))
      }
      try context.commit()
      let query = context.objects("Posting")
      #expect(try query.order(by: "text").fetch().map { $0["month"].int } == [12, 1, 1, 2, 2])
      #expect(try context.count("Posting", matching: "read == day") == 5)
      #expect(try context.count("Posting", matching: "period == 202401") == 2)
      #expect(
        try context.count("Posting", matching: "day >= date('2024-01-01', 'Europe/Berlin')") == 4)
      #expect(
        try context.count(
          "Posting", matching: FetchPredicate(format: "day > CAST(%@, 'NSDate')", "2024-01-20"))
          == 2)
      for predicate in ["day > CAST(%@, 'NSDate')", "day == CAST(%@, 'NSDate')"] {
        let error = try failure {
          _ = try context.count("Posting", matching: FetchPredicate(format: predicate, "soon"))
        }
        #expect(error.code == .invalidPredicate && error.message.contains("ISO 8601"))
      }
      let rows = try query.order(by: "year(day, 'Europe/Berlin')", "month(day, 'Europe/Berlin')")
        .rows(
          "year(day, 'Europe/Berlin') AS y", "month(day, 'Europe/Berlin') AS m", "sum(amount) AS n",
          groupedBy: ["year(day, 'Europe/Berlin')", "month(day, 'Europe/Berlin')"])
      #expect(rows.map { $0["y"]?.int } == [2023, 2024, 2024])
      #expect(rows.map { $0["m"]?.int } == [12, 1, 2])
      #expect(rows.map { $0["n"]?.int } == [1, 2, 2])
      let latest = try query.order(by: .descending(expression: "weekday(day)"), "text").fetch()
      #expect(latest.first?["text"] == "2023-12-31T22:59:59Z")
    }
  }
}

extension FetchPredicate {
  fileprivate static func date(_ text: String) throws -> PropertyValue {
    .date(try #require(ISO8601Date.parse(text)))
  }
}
