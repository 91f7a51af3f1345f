import ArborModel
import ArborObjects
import TestSupport
import Testing

/// The first objects of each group, through every access path.
@Suite("The first objects of each group") struct TopOfGroupsTests {
  private static let counts = [5, 2, 1, 0, 7]

  /// Creates countries with the given numbers of cities, and two cities without a country.
  private func use(
    _ body: (PersistentStore, ManagedObjectContext, [ManagedObject]) throws -> Void
  ) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Country") {
        AttributeDescription("name", .string)
        RelationshipDescription("cities", to: "City", inverse: "country", .toMany)
      }
      EntityDescription("City") {
        AttributeDescription("name", .string)
        AttributeDescription("kind", .string, .optional)
        AttributeDescription("population", .integer32, .indexed)
        RelationshipDescription("country", to: "Country", inverse: "cities")
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let countries = try Self.counts.indices.map { index in
        let country = try context.insert("Country")
        country["name"] = "c\(index)"
        return country
      }
      var serial = 0
      for (country, count) in zip(countries + [nil], Self.counts + [2]) {
        for _ in 0..<count {
          let city = try context.insert("City")
          city["name"] = "t\(serial)"
          city["population"] = serial * 37 % 11
          city["kind"] = ["Port", "port", nil][serial % 3]
          city["country"] = country
          serial += 1
        }
      }
      try context.commit()
      try body(store, context, countries)
    }
  }

  private func country(_ city: ManagedObject) throws -> ManagedObject? {
    try city.object(forKey: "country")
  }

  private func population(_ city: ManagedObject) throws -> Int64 {
    if case .integer(let number) = try city.value(forKey: "population") { number } else { -1 }
  }

  /// Returns the largest cities of each country, computed naively.
  private func largest(
    _ count: Int, _ cities: [ManagedObject], _ countries: [ManagedObject]
  ) throws -> [ManagedObject] {
    try ([nil] + countries).flatMap { country in
      let own = try cities.filter { try self.country($0) == country }
      let sorted = try own.enumerated().map { (try population($1), $0, $1) }
        .sorted { $0.0 != $1.0 ? $0.0 > $1.0 : $0.1 < $1.1 }
      return sorted.prefix(count).map(\.2)
    }
  }

  @Test("Every access path returns the same first objects of each group", arguments: [1, 2, 3, 20])
  func everyWayGivesTheSame(count: Int) throws {
    try use { (_, context, countries) throws in
      let expected = try largest(count, context.objects("City").fetch(), countries)
      let query = context.objects("City").top(count, per: "country", by: "-population")
      #expect(try query.fetch() == expected && query.count() == expected.count)
      #expect(try query.first() == expected.first && query.last() == expected.last)
      #expect(try query.offset(2).limit(3).fetch() == Array(expected.dropFirst(2).prefix(3)))
      #expect(try query.offset(expected.count).isEmpty() && !query.isEmpty())
      var found: [ManagedObject] = []
      let cursor = try context.cursor(for: query.request)
      while let city = try cursor.next() { found.append(city) }
      #expect(found == expected)
      var (pages, token): ([ManagedObject], String?) = ([], nil)
      repeat {
        let page = try query.limit(2).page(after: token)
        pages += page.objects
        token = page.next
      } while token != nil
      #expect(pages == expected)
      let sum = try expected.reduce(0) { $0 + (try population($1)) }
      #expect(try query.value(of: .sum("population")) == .integer(sum))
      // The minimum can't be read from the end of the index, because that row may be excluded.
      let least = try expected.map(population).min()
      #expect(try query.value(of: .minimum("population")) == least.map(PropertyValue.integer))
      let byName = try query.order(by: "-name").fetch()
      #expect(byName.map { "\($0["name"])" } == expected.map { "\($0["name"])" }.sorted(by: >))
    }
  }

  @Test("Groups are formed after filtering and include pending changes")
  func thePredicateComesBeforeAndPendingChangesCount() throws {
    try use { (_, context, countries) throws in
      let cities = try context.objects("City").fetch()
      let query = context.objects("City").top(2, per: "country", by: "-population")
      context.delete(try #require(try query.first()))
      let new = try context.insert("City")
      new["name"] = "new"
      new["population"] = 100
      new["country"] = countries[3]
      cities[0]["population"] = 90
      cities[6]["country"] = countries[0]
      let present = cities.filter { !$0.isDeleted } + [new]
      #expect(try query.fetch() == largest(2, present, countries))
      let few = try present.filter { try population($0) < 8 }
      #expect(try query.filter("population < 8").fetch() == largest(2, few, countries))
      try context.commit()
      #expect(try query.fetch() == largest(2, present, countries))
    }
  }

  @Test("Objects can be grouped by any value")
  func groupsAreMadeOfAnyValue() throws {
    try use { (_, context, _) throws in
      let kinds = context.objects("City").top(1, per: "lowercase(kind)", by: "name")
      #expect(try kinds.count() == 2)
      let names = context.objects("City").top(1, per: "country.name", by: "-population")
      #expect(try names.count() == 5)
      let without = context.objects("City").top(2, per: "kind")
      #expect(try without.fetch().map { $0["name"] } == ["t2", "t5", "t0", "t3", "t1", "t4"])
      let computed = context.objects("City").top(
        1, per: "kind", by: .descending(expression: "population * -1"))
      #expect(try computed.count() == 3)
    }
  }

  @Test("Rows are made of the remaining objects")
  func rowsAreMadeOfWhatIsLeft() throws {
    try use { (_, context, countries) throws in
      var request = context.objects("City").top(2, per: "country", by: "-population").request
      request.propertiesToFetch = ["name"]
      let names = try context.fetchRows(request).compactMap { $0["name"] }
      let cities = try largest(2, context.objects("City").fetch(), countries)
      #expect(names == (try cities.map { try $0.value(forKey: "name") }))
      request.propertiesToFetch = ["country.name AS country", "count(name) AS all"]
      request.propertiesToGroupBy = ["country.name"]
      #expect(try context.fetchRows(request).compactMap { $0["all"] } == [2, 2, 2, 1, 2])
    }
  }

  @Test("Fetched results follow the first objects of each group")
  func liveResultsFollow() throws {
    try use { (_, context, countries) throws in
      let query = context.objects("City").top(2, per: "country", by: "-population")
      let results = try context.fetchedResults(query.request)
      let new = try context.insert("City")
      new["name"] = "new"
      new["population"] = 100
      new["country"] = countries[4]
      _ = try results.update()
      #expect(try Array(results.objects) == query.fetch() && results.objects.contains(new))
    }
  }

  @Test("Deleting affects only the first objects of each group")
  func changesAreOfTheFirstOnly() throws {
    try use { (_, context, _) throws in
      #expect(try context.objects("City").top(1, per: "country").delete() == 5)
      #expect(try context.count(FetchRequest<ManagedObject>(entity: "City")) == 12)
    }
  }

  @Test("The plan describes the limit per group")
  func plansShowTheLimit() throws {
    try use { (_, context, _) throws in
      let query = context.objects("City").top(2, per: "country", by: "-population").limit(4)
      let plan = try query.explain()
      #expect("\(plan)".contains("2 per country by -population"), "\(plan)")
      #expect(
        "\(try #require(plan.suggestedIndex))"
          == #"FetchIndexDescription("byCountryPopulation", on: "country", "-population") at City"#)
    }
  }

  @Test("A limit of zero objects per group is rejected")
  func aLimitOfNothingIsAnError() throws {
    try use { (_, context, _) throws in
      let error = #expect(throws: ArborError.self) {
        try context.objects("City").top(0, per: "country").fetch()
      }
      #expect(error?.code == .invalidArgument && error?.entity == "City")
    }
  }
}
