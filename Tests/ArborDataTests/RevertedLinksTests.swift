import ArborData
import Foundation
import TestSupport
import Testing

/// Links and large binaries after a revert that follows commits with the newer model.
@Suite("Links and large binaries after a revert") struct RevertedLinksTests {
  private let bookStore: BookStore

  init() throws { bookStore = try BookStore() }

  /// Dropped values are lost in records that were written since. Links and binary values of other
  /// records are restored if both ends still exist.
  @Test(
    "Links and large binaries are restored by a revert after commits", arguments: [false, true])
  func linksAndLargeBinariesComeBackOverCommits(deletesAuthor: Bool) throws {
    try bookStore.fill()
    do {
      let store = try bookStore.open(bookStore.lesser())
      defer { store.close() }
      let context = store.makeContext()
      let volumes = try context.fetch(FetchRequest<ManagedObject>(entity: "Volume"))
      #expect(volumes.map { $0["title"] as String? } == (0..<20).map { "book \($0)" })
      context.delete(volumes[3])
      volumes[5]["note"] = "changed"
      try context.insert("Volume")["title"] = "new"
      if deletesAuthor {
        for author in try context.fetch(FetchRequest<ManagedObject>(entity: "Author")) {
          context.delete(author)
        }
      }
      try context.commit()
    }
    try PersistentStore.revertMigration(bookStore.url, dropping: ["Volume.note"])
    let store = try PersistentStore(
      model: bookStore.model(), at: .file(bookStore.url), options: StoreOptions(migration: .refuse))
    defer { store.close() }
    try store.check()
    let context = store.makeContext()
    let books = try context.fetch(FetchRequest<ManagedObject>(entity: "Book"))
    #expect(books.map { $0["title"] as String? } == titles())
    for (number, book) in zip(numbers(), books) {
      let hasForgotten = number == nil || number == 5
      #expect((book["author"] as ManagedObject? != nil) == !(hasForgotten || deletesAuthor))
      #expect(
        book["cover"] as Data?
          == (hasForgotten ? nil : Data(repeating: UInt8(number ?? 0), count: 20_000)))
      #expect(
        (book["tags"] as [ManagedObject]).map { $0["name"] as String? }
          == (number.map { ["tag \($0 % 3)", "tag \(($0 + 1) % 3)"] } ?? []))
    }
    let author = try context.fetchOne("Author")
    #expect((author?["books"] as [ManagedObject]?)?.count == (deletesAuthor ? nil : 18))
    #expect((author?["photo"] as Data?)?.count == (deletesAuthor ? nil : 40_000))
    let tags = try context.fetch(FetchRequest<ManagedObject>(entity: "Tag"))
    #expect(tags.map { ($0["books"] as [ManagedObject]).count } == [12, 13, 13])
    let byTitle = FetchRequest<ManagedObject>(entity: "Book", predicate: "title == 'new'")
    #expect(try context.fetch(byTitle).count == 1)
  }

  /// Returns the numbers of the books after one was deleted and one was added.
  private func numbers() -> [Int?] { (0..<20).filter { $0 != 3 } + [nil] }

  private func titles() -> [String?] { numbers().map { $0.map { "book \($0)" } ?? "new" } }

  // MARK: Relationships of every shape

  private func people(_ isLinked: Bool) -> ManagedObjectModel {
    let id = AttributeDescription(name: "id", type: .integer64)
    var person = EntityDescription(name: "Person", attributes: [id])
    var (desk, list) = (
      EntityDescription(name: "Desk", attributes: [id]),
      EntityDescription(name: "List", attributes: [id])
    )
    if isLinked {
      person.relationships = [
        .init(name: "desk", destination: "Desk", inverse: "person"),
        .init(name: "boss", destination: "Person"),
        .init(name: "friends", destination: "Person", isToMany: true),
        .init(name: "list", destination: "List", inverse: "people"),
      ]
      desk.relationships = [.init(name: "person", destination: "Person", inverse: "desk")]
      list.relationships = [
        .init(
          name: "people", destination: "Person", inverse: "list", isToMany: true, isOrdered: true)
      ]
    }
    return ManagedObjectModel(entities: [person, desk, list])
  }

  private func ids(_ object: ManagedObject, _ name: String) -> [Int64] {
    (object[name] as [ManagedObject]).map { $0["id"] }
  }

  @Test("Both ends of all links agree after a revert")
  func bothEndsOfALinkAgree() throws {
    try bookStore.change(people(true)) { context in
      let list = try context.insert("List")
      list["id"] = 0
      let people = try (0..<6).map { id in
        let (person, desk) = (try context.insert("Person"), try context.insert("Desk"))
        (person["id"], desk["id"]) = (id, id)
        person["desk"] = desk
        return person
      }
      for (index, person) in people.enumerated() {
        person["boss"] = people[(index + 1) % 6]
        person["friends"] = [people[(index + 2) % 6], people[(index + 3) % 6]]
      }
      list["people"] = Array(people.reversed())
    }
    // Person 1 and desk 3 are gone; person 4 and desk 5 have lost their links.
    try bookStore.change(people(false)) { context in
      let people = try context.fetch(FetchRequest<ManagedObject>(entity: "Person"))
      let desks = try context.fetch(FetchRequest<ManagedObject>(entity: "Desk"))
      context.delete(people[1])
      context.delete(desks[3])
      people[4]["id"] = 40
      desks[5]["id"] = 50
    }
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(people(true)) { context in
      let people = try context.fetch(FetchRequest<ManagedObject>(entity: "Person"))
      #expect(people.map { $0["id"] as Int64 } == [0, 2, 3, 40, 5])
      let desks = people.map { ($0["desk"] as ManagedObject?)?["id"] as Int64? }
      #expect(desks == [0, 2, nil, nil, nil])
      let bosses = people.map { ($0["boss"] as ManagedObject?)?["id"] as Int64? }
      #expect(bosses == [nil, 3, 40, nil, 0])
      #expect(people.map { ids($0, "friends").sorted() } == [[2, 3], [5, 40], [0, 5], [0], [2]])
      let list = try #require(try context.fetchOne("List"))
      #expect(ids(list, "people") == [5, 3, 2, 0])
      // The restored links can be changed consistently.
      list["people"] = [people[3], people[0]]
      people[0]["desk"] = nil as ManagedObject?
      people[2]["friends"] = [people[2]]
      context.delete(people[1])
    }
  }

  // MARK: Destinations

  /// Returns a model of authors whose first book and shelf refer to novels, or to books of any
  /// kind.
  private func library(leadingTo destination: String) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Author", attributes: [bookStore.text("name")],
        relationships: [
          RelationshipDescription(name: "debut", destination: destination),
          RelationshipDescription(
            name: "shelf", destination: destination, isToMany: true, isOrdered: true),
          RelationshipDescription(
            name: "prizes", destination: destination, inverse: "winner", isToMany: true),
        ]),
      EntityDescription(
        name: "Book", attributes: [bookStore.text("title")],
        relationships: destination == "Book" ? [winner] : []),
      EntityDescription(
        name: "Novel", parent: "Book", relationships: destination == "Book" ? [] : [winner]),
    ])
  }

  private let winner = RelationshipDescription(
    name: "winner", destination: "Author", inverse: "prizes")

  private func links(_ author: ManagedObject) -> [String] {
    let debut = author["debut"] as ManagedObject?
    let members = ["shelf", "prizes"].flatMap { author[$0] as [ManagedObject] }
    return ([debut].compactMap(\.self) + members).map { ($0["title"] as String?) ?? "" }
  }

  /// New links that the former model doesn't allow prevent a revert; all others are kept.
  @Test("New links that the former model doesn't allow prevent a revert")
  func linksOfAWiderDestinationGoBackWhereTheyFit() throws {
    let (former, newer) = (library(leadingTo: "Novel"), library(leadingTo: "Book"))
    try bookStore.change(former) { context in
      let author = try context.insert("Author")
      let novels = try ["one", "two"].map { title in
        let novel = try context.insert("Novel")
        novel["title"] = title
        return novel
      }
      author["debut"] = novels[0]
      author["shelf"] = [novels[1], novels[0]]
      author["prizes"] = [novels[1]]
    }
    try bookStore.change(newer) { context in
      let author = try #require(try context.fetchOne("Author"))
      let book = try context.insert("Book")
      book["title"] = "any"
      author["debut"] = book
      author["shelf"] = (author["shelf"] as [ManagedObject]) + [book]
    }
    let before = try Data(contentsOf: bookStore.url)
    let error = try #require(
      refusal { try PersistentStore.revertMigration(bookStore.url, dropping: .everythingRemoved) })
    #expect(
      error.violations.map(\.message)
        == ["debut", "shelf"].map {
          "Author.\($0): there is 1 object with links to objects that don't belong to Novel, "
            + "the destination in the former model (Author 1). Change the links with the newer "
            + "model."
        })
    #expect(try Data(contentsOf: bookStore.url) == before)
    try bookStore.change(newer) { context in
      let author = try #require(try context.fetchOne("Author"))
      let novels = try context.fetch(FetchRequest<ManagedObject>(entity: "Novel"))
      author["debut"] = novels[1]
      author["shelf"] = [novels[0], novels[1]]
    }
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(former) { context in
      let author = try #require(try context.fetchOne("Author"))
      #expect(links(author) == ["two", "one", "two", "two"])
      author["debut"] = nil as ManagedObject?
    }
  }

  @Test("Narrowing a destination migrates a copy of the store, and a revert restores the original")
  func linksOfANarrowerDestinationComeBackAsTheyWere() throws {
    let (former, newer) = (library(leadingTo: "Book"), library(leadingTo: "Novel"))
    try bookStore.change(former) { context in
      let author = try context.insert("Author")
      let novel = try context.insert("Novel")
      novel["title"] = "one"
      author["debut"] = novel
      author["shelf"] = [novel]
      author["prizes"] = [novel]
    }
    try bookStore.open(newer).close()
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(former) { context in
      let author = try #require(try context.fetchOne("Author"))
      #expect(links(author) == ["one", "one", "one"])
    }
    try bookStore.change(newer) { context in try context.insert("Novel")["title"] = "since" }
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .notAllowed)
    try PersistentStore.revertMigration(bookStore.url, dropping: .everythingRemoved)
    try bookStore.change(former) { context in
      #expect(try context.count("Novel") == 1)
      let author = try #require(try context.fetchOne("Author"))
      #expect(links(author) == ["one", "one", "one"])
    }
  }
}
