import ArborData
import ArborMacros
import Foundation
import TestSupport
import Testing

@Entity final class Reading: ManagedObject {
  var value: Int = 0
  var attribute: String = ""
  var validate: Bool = false
  @Relationship var toOne: Reading?
}

/// Macro classes with a store.
@Suite struct EntityTests {
  @Test("The first example in the documentation works")
  func theExampleOfTheFirstPage() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Mayhem.arbor")
    let manager = try DataManager(for: Company.self, Employee.self, at: .file(url))
    let company = manager.insert(Company.self)
    company.companyID = 7
    for (name, age) in [("Ada", 36), ("Grace", 85), ("Edsger", 28), ("Barbara", 36)] {
      let employee = manager.insert(Employee.self)
      employee.name = name
      employee.age = age
      employee.company = company
    }
    try manager.commit()
    let young = try manager.context.objects(Employee.self)
      .filter("age < \(40)").order(by: "-age", "name").fetch()
    let same = try manager.context.objects(Employee.self)
      .filter(#Predicate { $0.age < 40 }).order(by: "-age", "name").fetch()
    #expect(young.map(\.name) == ["Ada", "Barbara", "Edsger"])
    #expect(same == young)
    #expect(company.employees.count == 4)

    let twin = manager.insert(Company.self)
    twin.companyID = 7
    try manager.commit()
    #expect(try manager.context.objects(Company.self).count() == 1)
    #expect(company.employees.count == 4)
    manager.delete(company)
    #expect(try manager.context.objects(Employee.self).count() == 0)
    try manager.commit()
    try TemporaryStore.check(path: url.path)
  }

  @Test("The classes have the same model as the handwritten descriptions")
  func aClassSaysWhatAModelSays() throws {
    let model = try ManagedObjectModel(for: Library.classes)
    #expect(model.entity(named: "Person") == Self.written.entity(named: "Person"))
    #expect(model.entity(named: "Author") == Self.written.entity(named: "Author"))
    #expect(model.entity(named: "Laureate") == Self.written.entity(named: "Laureate"))
    #expect(model.entity(named: "Volume") == Self.written.entity(named: "Volume"))
    #expect(model.entity(named: "Shelf") == Self.written.entity(named: "Shelf"))
    #expect(model == Self.written)
  }

  @Test("Properties may have the names of methods with labels, or of accessors")
  func namesThatAreFree() throws {
    let store = try PersistentStore(for: [Reading.self], at: .inMemory)
    let context = store.makeContext()
    let reading = context.insert(Reading.self)
    (reading.value, reading.attribute, reading.validate) = (7, "height", true)
    reading.toOne = reading
    try context.commit()
    let other = store.makeContext()
    let same = try #require(
      try other.fetchOne(Reading.self, matching: #Predicate { $0.value == 7 }))
    #expect(same.attribute == "height" && same.validate && same.toOne === same)
    #expect(try same.value(forKey: "value").int == 7)
    try same.setValue(8, forKey: "value")
    #expect(same.value == 8)
  }

  @Test("Slots are counted through superclasses")
  func numbersChainThroughSuperclasses() {
    #expect(Library.Person.attributeCount == 2)
    #expect(Library.Author.attributeCount == 6)
    #expect(Library.Laureate.attributeCount == 7)
    #expect(Library.Person.relationshipCount == 1)
    #expect(Library.Author.relationshipCount == 4)
    #expect(Library.Laureate.relationshipCount == 5)
    #expect(Library.Book.entityName == "Volume")
  }

  @Test("Values of every kind of property are stored")
  func everyKindOfPropertyIsKept() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Library.arbor")
    let store = try PersistentStore(for: Library.classes, at: .file(url))
    AttributeTransformers.register(CodableTransformer<Library.Point>(), named: "Library.Point")
    let context = store.makeContext()
    let date = Date(timeIntervalSinceReferenceDate: 1_000)
    do {
      let author = context.insert(Library.Author.self)
      author.name = "Simone"
      author.genre = .essay
      author.grade = .high
      author.home.street = "Rue de Rivoli"
      author.move(to: .init(street: "Boulevard Raspail", city: "Paris"))
      let book = context.insert(Library.Book.self)
      book.title = "Faux"
      book.class = nil
      book.mood = "calm"
      book.cover = Data([1, 2])
      book.color = Data([3])
      book.pages = 330
      book.point = Library.Point(x: 4)
      book.binding = .paper
      book.points = [Library.Point(x: 5), Library.Point(x: 6)]
      author.books = [book]
      let shelf = context.insert(Library.Shelf.self)
      shelf.built = date
      shelf.page = URL(string: "https://example.org/a")
      shelf.price = 12
      shelf.books = [book]
      let laureate = context.insert(Library.Laureate.self)
      laureate.year = 1957
      laureate.rival = author
      laureate.teacher = author
      laureate.loans.insert(book)
      try context.commit()
    }
    let other = store.makeContext()
    let authors = other.objects(Library.Author.self)
    let author = try #require(try authors.filter("name == 'Simone'").first())
    #expect(author.genre == .essay)
    #expect(author.grade == .high)
    #expect(author.home == .init(street: "Rue de Rivoli", city: "Paris"))
    #expect(author.place == .init(street: "Boulevard Raspail", city: "Paris"))
    let book = try #require(author.books.first)
    #expect(book.title == "Faux" && book.year == 2_000 && book.class == nil && book.mood == nil)
    #expect(book.cover == Data([1, 2]) && book.color == Data([3]) && book.pages == 330)
    #expect(book.point == Library.Point(x: 4))
    #expect(book.binding == .paper && book.jacket == nil && book.spine == nil)
    #expect(book.points.map(\.x) == [5, 6])
    book.jacket = .cloth
    book.spine = Library.Point(x: 7)
    #expect(book["jacket"] == "cloth" && book.jacket == .cloth && book.spine?.x == 7)
    book.spine = nil
    #expect(book.spine == nil && book["spine"] == PropertyValue.null)
    #expect(Array(book.shelves).map(\.built) == [date])
    #expect(book.shelves.first?.page == URL(string: "https://example.org/a"))
    #expect(book.shelves.first?.price == 12)
    let laureate = try #require(try other.objects(Library.Laureate.self).first())
    #expect(laureate.year == 1957 && laureate.genre == .novel && laureate.grade == .low)
    #expect(laureate.rival == author && laureate.teacher == author)
    #expect(author.students == [laureate] && book.reader == laureate)
    #expect(Array(laureate.loans) == [book])
    try TemporaryStore.check(path: url.path)
  }

  @Test("Properties that are not part of the model are unaffected by the macros")
  func whatIsNotModelledIsLeftAlone() throws {
    let context = try PersistentStore(for: Library.classes, at: .inMemory).makeContext()
    let author = context.insert(Library.Author.self)
    #expect(author.calls == ["inserted "])
    author.name = "Ada"
    author.isSelected = true
    #expect(author.isSelected && author.made == "by a context" && Library.Person.kinds == 3)
    #expect(author.initials == Library.Person.Initials(text: "A"))
    author.isSelected = false
    #expect(author.changedValues()["isSelected"] == nil)
  }

  @Test("Key paths are translated to property names")
  func keyPathsHaveNames() throws {
    AttributeTransformers.register(CodableTransformer<Library.Point>(), named: "Library.Point")
    let context = try PersistentStore(for: Library.classes, at: .inMemory).makeContext()
    for (name, genre, year) in [
      ("Ada", Library.Genre.essay, Int16(1957)), ("Bo", .novel, 1964), ("Cy", .essay, 1901),
    ] {
      let laureate = context.insert(Library.Laureate.self)
      laureate.name = name
      laureate.genre = genre
      laureate.year = year
      for number in 0..<Int(year - 1900) / 20 {
        let book = context.insert(Library.Book.self)
        book.title = "\(name) \(number)"
        book.authors = [laureate]
        book.reader = laureate
        book.point = Library.Point(x: number)
      }
    }
    try context.commit()
    let essay = Library.Genre.essay
    func names(_ predicate: Predicate<Library.Laureate>) throws -> [String] {
      try context.fetch(
        FetchRequest<Library.Laureate>(
          predicate: FetchPredicate(predicate),
          sortKeys: [.descending(\Library.Laureate.year), .ascending(\Library.Laureate.name)])
      ).map(\.name)
    }
    #expect(try names(#Predicate { $0.genre == essay }) == ["Ada", "Cy"])
    #expect(try names(#Predicate { $0.books.count > 2 }) == ["Bo"])
    #expect(try names(#Predicate { $0.loans.count > 2 }) == ["Bo"])
    #expect(try names(#Predicate { $0.loans.isEmpty }) == ["Cy"])
    #expect(try names(#Predicate { $0.loans.contains { $0.title == "Ada 0" } }) == ["Ada"])
    #expect(try names(#Predicate { $0.place == nil }) == ["Bo", "Ada", "Cy"])
    let paris = Library.Address(city: "Paris")
    #expect(try names(#Predicate { $0.home == paris }) == ["Bo", "Ada", "Cy"])
  }

  /// Checks `enum Genre: String, AttributeValue`, as in the documentation.
  @Test("Enumerations are compared, sorted and grouped")
  func enumerationsAreComparedSortedAndGrouped() throws {
    let context = try PersistentStore(for: Library.classes, at: .inMemory).makeContext()
    for (name, genre, grade) in [
      ("Ada", Library.Genre.essay, Library.Grade?.none), ("Bo", .novel, .high),
      ("Cy", .essay, .low), ("Di", .poetry, .high),
    ] {
      let author = context.insert(Library.Author.self)
      author.name = name
      author.genre = genre
      author.grade = grade
    }
    try context.commit()
    let query = context.objects(Library.Author.self).order(by: "name")
    let (essay, high, some) = (
      Library.Genre.essay, Library.Grade.high, [Library.Genre.novel, .poetry]
    )
    func names(_ predicate: Predicate<Library.Author>) throws -> [String] {
      try query.filter(predicate).fetch().map(\.name)
    }
    #expect(try names(#Predicate { $0.genre == essay }) == ["Ada", "Cy"])
    #expect(try names(#Predicate { $0.genre != essay && $0.grade == high }) == ["Bo", "Di"])
    #expect(try names(#Predicate { some.contains($0.genre) }) == ["Bo", "Di"])
    #expect(try names(#Predicate { $0.grade == nil }) == ["Ada"])
    #expect(try query.filter("genre == \(essay)").count() == 2)
    #expect(try query.filter(FetchPredicate(format: "grade == %@", high)).count() == 2)
    #expect(try query.filter("genre IN \(some)").count() == 2)

    let sorted = try context.fetch(
      FetchRequest<Library.Author>(
        sortKeys: [.descending(\Library.Author.genre), .ascending(\Library.Author.grade)]))
    #expect(sorted.map(\.name) == ["Di", "Bo", "Ada", "Cy"])
    let last: Library.Genre? = try query.value(of: .maximum("genre"))
    let least: Library.Grade? = try query.value(of: .minimum("grade"))
    #expect(last == .poetry && least == .low)
    #expect(
      try query.grouped(by: \.genre).mapValues(\.count) == [.essay: 2, .novel: 1, .poetry: 1])
  }

  /// The expected model of the classes in ``Library``.
  static let written = ManagedObjectModel(entities: [person, author, laureate, volume, shelf])

  private static let address: JSONShape = ["street": .string, "city": .string]

  private static let person = EntityDescription("Person", isAbstract: true, className: "Person") {
    AttributeDescription("name", .string, .default(""))
    AttributeDescription("nick", .string, .optional, .indexed, .renamed(from: "nickname"))
    RelationshipDescription("loans", to: "Volume", inverse: "reader", .toMany)
  }

  private static let author = EntityDescription("Author", parent: "Person", className: "Author") {
    AttributeDescription("genre", .string, .default("novel"))
    AttributeDescription("grade", .integer16, .optional, .default(1))
    AttributeDescription("home", .json, .json(address))
    AttributeDescription("place", .json, .json(address), .optional)
    RelationshipDescription("books", to: "Volume", inverse: "authors", .toMany, .ordered)
    RelationshipDescription("teacher", to: "Author", inverse: "students")
    RelationshipDescription(
      "students", to: "Author", inverse: "teacher", .toMany, deleteRule: .deny)
  }

  private static let laureate = EntityDescription(
    "Laureate", parent: "Author", className: "Laureate"
  ) {
    AttributeDescription("year", .integer16, .default(1901))
    RelationshipDescription("rival", to: "Person")
  }

  private static let volume = EntityDescription(
    "Volume", className: "Book", uniquenessConstraints: [["title", "year"]],
    fetchIndexes: [
      FetchIndexDescription(name: "byTitle", elements: [.init("title", kind: .folded)])
    ],
    renamedFrom: "Tome", versionHashModifier: "2", userInfo: ["key": "title"]
  ) {
    AttributeDescription(
      "title", .string, .bounds(1...80), .pattern("\\S.*"), .userInfo(["note": "as printed"]))
    AttributeDescription("year", .integer32, .default(2_000))
    AttributeDescription("class", .string, .optional, .default("A"))
    AttributeDescription("mood", .string, .optional, .transient)
    AttributeDescription("cover", .binary, .optional, .externalStorage, .preservedOnDeletion)
    AttributeDescription("color", .transformable("Secret"), .optional, .valueClass("NSColor"))
    AttributeDescription("point", .transformable("Library.Point"))
    AttributeDescription("binding", .string, .default("cloth"))
    AttributeDescription("jacket", .string, .optional)
    AttributeDescription(
      "points", .json, .json(.list(["x": .integer])), .default([] as PropertyValue))
    AttributeDescription("spine", .json, .json(["x": .integer]), .optional)
    AttributeDescription("pages", .integer16, .default(-1))
    AttributeDescription("anything", .undefined, .optional, .transient)
    RelationshipDescription("authors", to: "Author", inverse: "books", .toMany, .mandatory)
    RelationshipDescription("reader", to: "Person", inverse: "loans")
    RelationshipDescription(
      "shelves", to: "Shelf", inverse: "books", .toMany, .count(...1), deleteRule: .noAction)
  }

  private static let shelf = EntityDescription("Shelf", className: "Shelf") {
    AttributeDescription("number", .integer64, .default(0))
    AttributeDescription("width", .double, .default(1.5))
    AttributeDescription("weight", .float, .default(2.0))
    AttributeDescription("price", .decimal, .default(Decimal(9.5)))
    AttributeDescription("isFull", .boolean, .default(false))
    AttributeDescription("built", .date, .default(Date(timeIntervalSinceReferenceDate: 0)))
    AttributeDescription("code", .uuid, .optional)
    AttributeDescription("page", .uri, .optional)
    RelationshipDescription("books", to: "Volume", inverse: "shelves", .toMany, .ordered)
  }
}
