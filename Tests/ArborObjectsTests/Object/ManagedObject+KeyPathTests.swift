import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Key paths into structured attributes, through every access path.
@Suite struct ManagedObjectKeyPathTests {
  private func use(_ body: (ManagedObjectContext, [ManagedObject]) throws -> Void) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("address", .composite("Address"), .optional)
        AttributeDescription("anything", .undefined, .transient)
        AttributeDescription("photo", .binary, .optional)
        RelationshipDescription("friend", to: "Person", inverse: "friends")
        RelationshipDescription("friends", to: "Person", inverse: "friend", .toMany)
      }
      CompositeDescription("Address") {
        AttributeDescription("city", .string)
        AttributeDescription("floor", .integer16, .optional)
        AttributeDescription("point", .composite("Point"), .optional)
      }
      CompositeDescription("Point") { AttributeDescription("latitude", .double) }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      var people: [ManagedObject] = []
      for (city, floor) in [("Rome", 3), ("Bern", 1), ("Oslo", nil), (nil, nil)]
        as [(String?, Int64?)]
      {
        let person = try context.insert("Person")
        person["name"] = city ?? "nowhere"
        if let city {
          person["address"] = .composite([
            "city": .string(city), "floor": floor.map(PropertyValue.integer) ?? .null,
            "point": .composite(["latitude": .double(Double(city.count) + Double(people.count))]),
          ])
        }
        person["friend"] = people.first
        people.append(person)
      }
      try context.commit()
      try body(context, people)
    }
  }

  @Test("Parts of structured attributes are read by key path")
  func valuesOfPartsAreRead() throws {
    try use { (_, people) throws in
      #expect(try people[0].value(forKeyPath: "address.city") == "Rome")
      #expect(try people[0].value(forKeyPath: "address.point.latitude") == 4.0)
      #expect(try people[2].value(forKeyPath: "address.floor") == .null)
      #expect(try people[3].value(forKeyPath: "address.point.latitude") == .null)
      #expect(try people[1].value(forKeyPath: "friend.address.city") == "Rome")
      #expect(try people[0].value(forKeyPath: "friends.address.city") == ["Bern", "Oslo", .null])
      people[0]["anything"] = .composite(["kind": "odd"])
      #expect(try people[0].value(forKeyPath: "anything.kind") == "odd")
      #expect(try people[1].value(forKeyPath: "anything.kind") == .null)
    }
  }

  @Test("Requests can use parts of structured attributes")
  func requestsFollowParts() throws {
    try use { (context, people) throws in
      let query = context.objects("Person")
      #expect(try query.filter("address.city == 'Bern'").fetch() == [people[1]])
      #expect(
        try query.filter("address.point.latitude > 4 AND address.floor != nil").fetch() == [
          people[1]
        ]
      )
      #expect(try query.filter("ANY friends.address.city == 'Oslo'").fetch() == [people[0]])
      #expect(
        try query.order(by: "-address.city").fetch() == [
          people[0], people[2], people[1], people[3],
        ])
      #expect(try query.order(by: "address.point.latitude").last() == people[2])
      #expect(try query.order(by: "friend.address.city", "address.city").first() == people[0])
      #expect(
        try query.value(of: .maximum("address.floor")) == 3
          && query.value(of: .sum("address.floor")) == 4)
      #expect(
        try query.filter("address != nil").top(1, per: "address.floor", by: "name").count() == 3)
      var request = query.request
      request.propertiesToFetch = ["address.city AS city", "count(name) AS all"]
      request.propertiesToGroupBy = ["address.city"]
      #expect(try context.fetchRows(request).count == 4)
      let results = try context.fetchedResults(query.order(by: "address.city").request)
      people[0]["address"] = .composite(["city": "Aarau"])
      _ = try results.update()
      #expect(Array(results.objects) == [people[3], people[0], people[1], people[2]])
    }
  }

  @Test("Unknown parts are reported")
  func partsThatAreNotKnownAreErrors() throws {
    try use { (context, people) throws in
      let bytes =
        "Person.photo is a binary attribute, whose parts the model doesn't describe. Make it a "
        + "composite or JSON attribute, or a separate object."
      var error = try failure { _ = try people[0].value(forKeyPath: "address.citi") }
      #expect(error.code == .unknownName)
      #expect(error.message == "Address has no part \"citi\". Did you mean city?")
      error = try failure { _ = try people[0].value(forKeyPath: "name.x") }
      #expect(error.code == .typeMismatch)
      error = try failure { _ = try context.objects("Person").filter("photo.x == 1").fetch() }
      #expect(error.message.contains(bytes), "\(error.message)")
      error = try failure { _ = try context.objects("Person").order(by: "photo.x").fetch() }
      #expect(error.message == bytes)
      error = try failure { _ = try context.objects("Person").order(by: "address.citi").fetch() }
      #expect(error.message.contains("Address has no part \"citi\". Did you mean city?"))
      error = try failure { _ = try context.objects("Person").value(of: .sum("photo.x")) }
      #expect(error.message == bytes)
    }
  }
}
