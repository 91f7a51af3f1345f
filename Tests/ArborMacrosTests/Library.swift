import ArborData
import ArborMacros
import Foundation

/// Classes with every kind of property that the macros support.
enum Library {
  static let classes: [ManagedObject.Type] = [
    Person.self, Author.self, Laureate.self, Book.self, Shelf.self,
  ]

  enum Genre: String, AttributeValue { case novel, essay, poetry }
  enum Grade: Int16, AttributeValue { case low = 1, high = 9 }
  struct Address: Codable, Hashable, AttributeValue {
    var street = ""
    var city = ""
  }

  struct Point: Codable, Equatable { var x: Int }
  enum Binding: String, Codable { case paper, cloth }

  @Entity(isAbstract: true) class Person: ManagedObject {
    struct Initials: Equatable { let text: String }
    static let kinds = 3

    var name: String = ""
    @Attribute(.renamed(from: "nickname"), .indexed) var nick: String?
    @Relationship(inverse: "reader") var loans: ToMany<Book>
    @Transient var isSelected = false
    @Transient var calls: [String] = []

    let made = "by a context"
    var initials: Initials { Initials(text: String(name.prefix(1))) }
    override func awakeFromInsert() { calls.append("inserted \(name)") }
  }

  @Entity class Author: Person {
    var genre: Genre = .novel
    var grade: Grade? = .low
    var home: Address = Address(city: "Paris")
    private(set) var place: Address?
    @Relationship(inverse: "authors") var books: [Book]
    @Relationship(inverse: "students") var teacher: Author?
    @Relationship(inverse: "teacher", deleteRule: .deny) var students: Set<Author>

    func move(to place: Address?) { self.place = place }
  }

  @Entity final class Laureate: Author {
    var year: Int16 = 1901
    @Relationship var rival: Person?
  }

  @Entity(
    "Volume", uniquenessConstraints: [["title", "year"]],
    fetchIndexes: [
      FetchIndexDescription(name: "byTitle", elements: [.init("title", kind: .folded)])
    ],
    renamedFrom: "Tome", versionHashModifier: "2", userInfo: ["key": "title"])
  final class Book: ManagedObject {
    @Attribute(.bounds(1...80), .pattern("\\S.*"), .userInfo(["note": "as printed"]))
    var title: String
    var year: Int32 = 2_000
    var `class`: String? = "A"
    @Attribute(.transient) var mood: String?
    @Attribute(.externalStorage, .preservedOnDeletion) var cover: Data?
    @Attribute(.type(.transformable("Secret")), .valueClass("NSColor")) var color: Data?
    @Attribute(.transformable("Library.Point"), .mandatory) var point: Point?
    var binding: Binding = .cloth
    var jacket: Binding?
    var points: [Point] = []
    var spine: Point?
    @Attribute(.type(.integer16)) var pages: Int = -1
    @Attribute(.transient) var anything: PropertyValue?
    @Relationship(.mandatory, inverse: "books") var authors: Set<Author>
    @Relationship(inverse: "loans") var reader: Library.Person?
    @Relationship(.count(...1), inverse: "books", deleteRule: .noAction) var shelves: Set<Shelf>
  }

  @Entity final class Shelf: ManagedObject {
    var number: Int = 0
    var width: Double = 1.5
    var weight: Float = 2
    var price: Decimal = 9.5
    var isFull: Bool = false
    var built: Date = Date(timeIntervalSinceReferenceDate: 0)
    var code: UUID?
    var page: URL?
    @Relationship(inverse: "shelves") var books: Array<Book>
  }
}
