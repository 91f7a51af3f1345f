import ArborModel
import ArborObjects
import TestSupport
import Testing

/// Predicates on properties of subentities, and on properties whose names are reserved words.
@Suite struct SubentityPredicateTests {
  private func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Album") {
        RelationshipDescription("items", to: "Item", inverse: "album", .toMany)
        RelationshipDescription("cover", to: "Item")
      }
      EntityDescription("Item") {
        AttributeDescription("title", .string, .default(""))
        AttributeDescription("no", .integer64, .default(0))
        AttributeDescription("FALSE", .boolean, .default(false))
        RelationshipDescription("album", to: "Album", inverse: "items")
      }
      EntityDescription("Photo", parent: "Item") {
        AttributeDescription("width", .integer64, .default(0))
        RelationshipDescription("place", to: "Place", inverse: "photos")
      }
      EntityDescription("Panorama", parent: "Photo") {
        AttributeDescription("angle", .integer64, .default(0))
      }
      EntityDescription("Clip", parent: "Item") {
        AttributeDescription("seconds", .integer64, .default(0))
      }
      EntityDescription("Place") {
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("photos", to: "Photo", inverse: "place", .toMany)
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let (album, place) = (try context.insert("Album"), try context.insert("Place"))
      place["name"] = "Rome"
      for (index, name) in ["Item", "Photo", "Panorama", "Clip"].enumerated() {
        let item = try context.insert(name)
        item["title"] = name
        item["no"] = index
        try item.setObject(album, forKey: "album")
        if name == "Photo" { item["width"] = 3 }
        if name == "Clip" { item["seconds"] = 9 }
        guard name == "Panorama" else { continue }
        (item["width"], item["angle"]) = (7, 180)
        try item.setObject(place, forKey: "place")
        try album.setObject(item, forKey: "cover")
      }
      try context.commit()
      try body(context)
      try body(context.store.makeContext())
    }
  }

  private func titles(_ context: ManagedObjectContext, _ predicate: String) throws -> [String] {
    try context.fetch(
      FetchRequest<ManagedObject>(
        entity: "Item", predicate: try FetchPredicate(format: predicate), sortKeys: ["title"])
    ).map { $0["title"] }
  }

  @Test("CAST with the name of a subentity leads to its properties")
  func castsLeadToProperties() throws {
    try use { context in
      let cases: [(String, [String])] = [
        ("CAST(SELF, \"Photo\").width > 2", ["Panorama", "Photo"]),
        ("CAST(SELF, \"Photo\").width > 3", ["Panorama"]),
        ("CAST(SELF, \"Photo\").place.name == \"Rome\"", ["Panorama"]),
        ("CAST(SELF, \"Panorama\").angle == 180", ["Panorama"]),
        ("CAST(CAST(SELF, \"Photo\"), \"Panorama\").angle == 180", ["Panorama"]),
        ("CAST(SELF, \"Photo\") == NIL", ["Clip", "Item"]),
        ("CAST(SELF, \"Item\").no == 0", ["Item"]),
        (
          "CAST(SELF, \"Photo\").width == 3 OR CAST(SELF, \"Clip\").seconds == 9",
          ["Clip", "Photo"]
        ),
        ("CAST(album.cover, \"Photo\").width == 7", ["Clip", "Item", "Panorama", "Photo"]),
        ("CAST(album.cover, \"Clip\").seconds == 0", []),
        (
          "SUBQUERY(album.items, $x, CAST($x, \"Clip\").seconds > 5).@count == 1",
          ["Clip", "Item", "Panorama", "Photo"]
        ),
      ]
      for (predicate, expected) in cases {
        #expect(try titles(context, predicate) == expected, "\(predicate)")
      }
      // The properties of a pending object are read as well.
      let photo = try context.insert("Photo")
      (photo["title"], photo["width"]) = ("new", 3)
      #expect(try titles(context, "CAST(SELF, \"Photo\").width == 3") == ["Photo", "new"])
      context.rollback(photo)
      #expect(!context.hasChanges)
    }
  }

  @Test("CAST with another name than that of a subentity is an error")
  func otherNamesAreErrors() throws {
    try use { context in
      for (name, message) in [
        (
          "Album",
          "\"Album\" is not an entity that inherits from Item. CAST of an object takes the name of a "
            + "subentity."
        ),
        (
          "Video",
          "\"Video\" is not an entity that inherits from Item. CAST of an object takes the name of a "
            + "subentity."
        ),
      ] {
        let error = try failure { _ = try titles(context, "CAST(SELF, \"\(name)\").no > 3") }
        #expect(error.code == .invalidPredicate && error.message == message)
      }
      let error = try failure { _ = try titles(context, "CAST(SELF, \"Photo\").seconds > 3") }
      #expect(error.message.hasPrefix("Photo has no property \"seconds\"."))
    }
  }

  @Test("A constant that is also the name of a property is an error")
  func constantsAreNotProperties() throws {
    try use { context in
      let error = try failure { _ = try titles(context, "title == 'x' OR no == 2") }
      #expect(error.code == .invalidPredicate && error.location?.column == 17)
      #expect(
        error.message
          == "\"no\" is a reserved word for the constant NO, but Item has a property of "
          + "that name. Write #no for the property, or NO for the constant.")
      #expect(try titles(context, "#no == 2") == ["Panorama"])
      #expect(try titles(context, "SELF.no == 2") == ["Panorama"])
      #expect(try titles(context, "#FALSE == NO").count == 4)
      #expect(try titles(context, "#FALSE == false").count == 4)
      #expect(try failure { _ = try titles(context, "#FALSE == FALSE") }.code == .invalidPredicate)
      #expect(try context.count("Album", matching: "TRUE == yes AND no == no") == 1)
      #expect(
        try context.count(
          "Item", matching: FetchPredicate(format: "%K == %@", "no", 2)) == 1)
      let joined = ("title == ''" as FetchPredicate) || "no == 2"
      #expect(
        try failure { _ = try context.count("Item", matching: joined) }.code == .invalidPredicate)
    }
  }
}
