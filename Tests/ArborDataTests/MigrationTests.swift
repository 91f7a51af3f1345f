import ArborData
import Foundation
import TestSupport
import Testing

/// Migrations that add, remove or change attributes.
@Suite struct MigrationTests {
  // MARK: Attributes

  @Test("Added attributes have their defaults")
  func addedAttributesHaveTheirDefaults() throws {
    let store = try Library.store()
    let model = try Library.changed("Book") { book in
      book.attributes += [
        AttributeDescription(name: "note", type: .string, isOptional: true),
        AttributeDescription(name: "rank", type: .integer32, defaultValue: 7),
        AttributeDescription(name: "price", type: .decimal, defaultValue: .decimal(9.5)),
        AttributeDescription(name: "scratch", type: .string, isOptional: true, isTransient: true),
      ]
    }
    try store.evolve(to: model) { plain in
      plain.change("Book") {
        $0["note"] = .null
        $0["rank"] = 7
        $0["price"] = .decimal(9.5)
      }
    }
    // Existing objects keep the default with which the attribute was added when the default changes
    // later.
    var later = model
    let index = try #require(later.entities[1].attributes.firstIndex { $0.name == "rank" })
    later.entities[1].attributes[index].defaultValue = 8
    try store.evolve(to: later)
    try store.change { context, plain in
      let book = try context.insert("Book")
      book["id"] = 1
      book["title"] = "new"
      plain.values["Book"]?[1] = [
        "id": 1, "title": "new", "rank": 8, "price": .decimal(9.5), "note": .null, "pages": .null,
        "isLent": false, "serial": .null, "printed": .null,
      ]
    }
  }

  @Test("A removed attribute must be listed, and only lost properties may be listed")
  func nothingIsLostUnlessItIsNamed() throws {
    let store = try Library.store()
    let model = try Library.changed("Book") { $0.attributes.removeAll { $0.name == "pages" } }
    let refusal = try store.refusal(of: model)
    #expect(
      refusal.description == """
        The store has a different model and was not migrated because of 1 obstacle. Resolve it, \
        open the store with its former model, or set options.onMismatch to replace it.
        - Book.pages: removed, its values are dropped; list "Book.pages" in options.migration = \
        .automatic(dropping:) to drop it, or use a MigrationStep to convert it.
        """)
    #expect(refusal.code == .modelMismatch)
    #expect(refusal.violations.map(\.keyPath) == ["pages"])
    let misspelt = try store.refusal(
      of: model, StoreOptions(migration: .automatic(dropping: ["Book.page"])))
    #expect(
      misspelt.message.hasSuffix(
        "Names to drop that match no lost data: Book.page. Check their spelling."))
    try store.evolve(to: model, dropping: ["Book.pages", "Other"]) { plain in
      plain.change("Book") { $0["pages"] = nil }
    }
    // The new attribute doesn't reuse the number of the removed one.
    let again = try Library.changed("Book") { book in
      book.attributes.removeAll { $0.name == "pages" }
      book.attributes.append(
        AttributeDescription(name: "pages", type: .integer16, isOptional: true))
    }
    try store.evolve(to: again) { plain in plain.change("Book") { $0["pages"] = .null } }
    try store.evolve(to: model, dropping: .everythingRemoved) { plain in
      plain.change("Book") { $0["pages"] = nil }
    }
  }

  @Test("Renamed attributes keep their values and indexes")
  func renamedAttributesKeepTheirValuesAndIndexes() throws {
    let store = try Library.store()
    var model = try Library.changed(book: "title") {
      $0.name = "heading"
      $0.renamingIdentifier = "title"
    }
    model.entities[0].attributes[1].name = "fullName"
    model.entities[0].attributes[1].renamingIdentifier = "name"
    try store.evolve(to: model) { plain in
      plain.change("Book") { $0["heading"] = $0.removeValue(forKey: "title") }
      plain.change("Author") { $0["fullName"] = $0.removeValue(forKey: "name") }
    }
    try store.change { context, plain in
      var request = FetchRequest<ManagedObject>(
        entity: "Book", predicate: "heading == \(Library.text(4))")
      request.fetchLimit = 1
      let book = try #require(try context.fetch(request).first)
      book["heading"] = "changed"
      plain.values["Book"]?[1004]?["heading"] = "changed"
    }
    try store.evolve(to: Library.model().renamedBack()) { plain in
      plain.change("Book") { $0["title"] = $0.removeValue(forKey: "heading") }
      plain.change("Author") { $0["name"] = $0.removeValue(forKey: "fullName") }
    }
  }

  @Test("Attributes are converted to types that can hold every value")
  func typesThatHoldEveryValueConvert() throws {
    let store = try Library.store()
    let model = try Library.changed("Book") { book in
      for index in book.attributes.indices {
        switch book.attributes[index].name {
        case "pages": book.attributes[index].type = .double
        case "isLent":
          book.attributes[index].type = .integer32
          book.attributes[index].defaultValue = 0
        case "serial": book.attributes[index].type = .string
        case "printed": book.attributes[index].type = .double
        default: break
        }
      }
    }
    try store.evolve(to: model) { plain in
      plain.change("Book") { values in
        if case .integer(let pages)? = values["pages"] { values["pages"] = .double(Double(pages)) }
        values["isLent"] = values["isLent"] == .boolean(true) ? 1 : 0
        if case .uuid(let uuid)? = values["serial"] { values["serial"] = .string(uuid.uuidString) }
        if case .date(let date)? = values["printed"] {
          values["printed"] = .double(date.timeIntervalSinceReferenceDate)
        }
      }
    }
    let narrower = try store.refusal(of: Library.model())
    #expect(narrower.violations.map(\.keyPath) == ["isLent", "serial", "printed"])
    let inPlace = try store.refusal(
      of: Library.model(), StoreOptions(migration: .lightweightOnly))
    #expect(
      inPlace.violations.first?.message == """
        Book.pages: the type changes from double to integer16; existing values that do not fit \
        integer16 violate the rule; it needs a pass over the objects, which .lightweightOnly \
        doesn't make. Set options.migration to .automatic.
        """)
  }

  @Test("If a type cannot be converted, the values are dropped once the attribute is listed")
  func aTypeThatIsNotConvertedStartsAnewWhereItIsNamed() throws {
    let store = try Library.store()
    let model = try Library.changed(book: "title") {
      $0.type = .date
      $0.isOptional = true
    }
    let refusal = try store.refusal(of: model)
    #expect(refusal.violations.map(\.keyPath).contains("title"))
    try store.evolve(to: model, dropping: ["Book.title"]) { plain in
      plain.change("Book") { $0["title"] = .null }
    }
  }

  @Test("Existing `nil` values get the default when an attribute becomes mandatory")
  func nilBecomesTheDefaultOfAMandatoryAttribute() throws {
    let store = try Library.store()
    let strict = try Library.changed(book: "pages") { $0.isOptional = false }
    let refusal = try store.refusal(of: strict)
    let missing = Library.count / 4
    #expect(
      refusal.violations.map(\.message) == [
        """
        Book.pages: it becomes mandatory without a default, but there are \(missing) objects \
        without a value (Book 1, Book 5, Book 9 and more). Give the attribute a default, give each \
        object a value with the former model, or use a MigrationStep to do so.
        """
      ])
    #expect(refusal.violations.first?.objectID?.number == 1)
    let lenient = try Library.changed(book: "pages") {
      $0.isOptional = false
      $0.defaultValue = 1
      $0.isIndexed = true
    }
    let fill = { (plain: inout PlainObjects) in
      plain.change("Book") { if $0["pages"] == .null { $0["pages"] = 1 } }
    }
    try store.evolve(to: lenient, fill)
    var later = lenient
    later.entities[1].attributes[2].defaultValue = 2
    try store.evolve(to: later)
    // `nil` that is set once it is allowed again is kept.
    try store.evolve(to: Library.model())
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Book", predicate: "id == 1001")
      try context.fetch(request).first?["pages"] = PropertyValue.null
      plain.values["Book"]?[1001]?["pages"] = .null
    }
  }

  @Test("A mandatory attribute without a default can only be added to an empty entity")
  func aMandatoryAttributeWithoutDefaultNeedsAnEntityWithoutObjects() throws {
    let store = try Library.store()
    let code = AttributeDescription(name: "code", type: .string)
    let refusal = try store.refusal(of: Library.changed("Author") { $0.attributes.append(code) })
    #expect(
      refusal.violations.map(\.message) == [
        """
        Author.code: it is mandatory without a constant default, but there are 5 objects without a \
        value (Author 1, Author 2, Author 3 and more). Give the attribute a constant default \
        (UUID() is not one), make it optional, or use a MigrationStep to fill it.
        """
      ])
    var plain = Library.objects()
    plain.values["Book"] = nil
    plain.links = [:]
    let empty = try EvolvingStore(Library.model(), plain)
    try empty.evolve(to: Library.changed("Book") { $0.attributes.append(code) })
  }
}

extension ManagedObjectModel {
  /// Returns the model with its original names, renamed from `heading` and `fullName`.
  fileprivate func renamedBack() -> ManagedObjectModel {
    var model = self
    model.entities[0].attributes[1].renamingIdentifier = "fullName"
    model.entities[1].attributes[1].renamingIdentifier = "heading"
    return model
  }
}
