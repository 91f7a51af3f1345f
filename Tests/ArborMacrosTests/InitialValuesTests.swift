import ArborData
import ArborMacros
import Foundation
import TestSupport
import Testing

/// Initial values. Constants belong to the model; other expressions are evaluated for each object.
@Suite struct InitialValuesTests {
  enum Rank: String, AttributeValue { case junior, senior }
  struct Place: Codable, Hashable, AttributeValue { var city = "" }

  @Entity class Note: ManagedObject {
    static let shortLength = 8

    @Attribute(.unique) var key: Int64 = 0
    var id: UUID = UUID()
    var created: Date = .now
    var touched: Date? = Date()
    var code: String = "n" + String(UUID().uuidString.prefix(shortLength))
    var tags: [String] = [UUID().uuidString]
    var place: Place = Place(city: "Paris")

    var rank: Rank = .junior
    var former: Rank? = Rank.senior
    var seconds: Int = 60 * 60
    var least: Int64 = -Int64.max
    var since: Date = Date(timeIntervalSince1970: 86_400)
    var before: Date = .distantPast
    var known: UUID = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
    var page: URL? = URL(string: "https://example.org")
    var names: [String] = ["a", "b"]
    var nothing: String? = nil

    @Transient var idWhenAwake: UUID?
    override func awakeFromInsert() { idWhenAwake = id }
  }

  @Entity final class Memo: Note {
    var secret: UUID = .init()
  }

  struct NoteModel: ValueModel, Codable {
    static let entityName = "Memo"
    static let uniquingKeys: Set<String> = ["key"]
    var key: Int64
  }

  static let evaluated = ["id", "created", "touched", "code", "tags", "place", "secret"]

  private func context() throws -> ManagedObjectContext {
    let store = try PersistentStore(for: [Note.self, Memo.self], at: .inMemory)
    return store.makeContext()
  }

  @Test("Constant initial values belong to the model")
  func constantsAreInTheModel() throws {
    let model = try ManagedObjectModel(for: [Note.self, Memo.self])
    let attributes = model.entities.flatMap(\.attributes)
    let defaults = Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0.defaultValue) })
    for name in Self.evaluated { #expect(defaults[name] == .null, "\(name)") }
    #expect(defaults["rank"] == "junior" && defaults["former"] == "senior")
    #expect(defaults["seconds"] == 3600 && defaults["least"] == .integer(-.max))
    #expect(defaults["since"] == .date(Date(timeIntervalSince1970: 86_400)))
    #expect(defaults["before"] == .date(.distantPast))
    #expect(defaults["known"] == .uuid(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!))
    #expect(defaults["page"] == .uri(URL(string: "https://example.org")!))
    #expect(defaults["names"] == ["a", "b"])
    #expect(defaults["key"] == 0 && defaults["nothing"] == .null)
    // The model is the same each time the classes are described, and so in every process.
    #expect(model == (try ManagedObjectModel(for: [Note.self, Memo.self])))
  }

  /// All the APIs that create objects.
  private static let ways: [(String, @Sendable (ManagedObjectContext, Int64) throws -> Void)] = [
    ("insert", { context, key in context.insert(Memo.self).key = key }),
    ("insert by name", { context, key in try context.insert("Memo")["key"] = .integer(key) }),
    (
      "upsert by values",
      { context, key in try context.upsert(Memo.self, matching: ["key": key], values: [:]) }
    ),
    (
      "import",
      { context, key in
        try context.importObject(from: ["key": .number(JSONNumber(key))], as: Memo.self)
      }
    ),
    ("upsert of a model", { context, key in try context.upsert(NoteModel(key: key)) }),
    (
      "seed",
      { context, key in
        let folder = try TemporaryFolder()
        let url = folder.url.appending(path: "seed.json")
        try Data("{\"Memo\": {\"key\": \(key)}}".utf8).write(to: url)
        try context.seed(from: .file(url))
      }
    ),
  ]

  @Test("Initial values that are not constants are evaluated for each object")
  func everyObjectGetsItsOwn() throws {
    let context = try context()
    let start = Date()
    for (number, (_, make)) in Self.ways.enumerated() {
      try make(context, Int64(2 * number))
      try make(context, Int64(2 * number + 1))
    }
    try context.commit()
    let memos = try context.objects(Memo.self).order(by: "key").fetch()
    #expect(memos.map(\.key) == (0..<Int64(2 * Self.ways.count)).map { $0 })
    #expect(Set(memos.map(\.id)).count == memos.count)
    #expect(Set(memos.map(\.secret)).count == memos.count)
    #expect(Set(memos.map(\.code)).count == memos.count)
    #expect(Set(memos.map(\.tags)).count == memos.count)
    for (memo, way) in zip(memos, Self.ways.flatMap { [$0.0, $0.0] }) {
      #expect(memo.created >= start && memo.created <= Date(), "\(way)")
      #expect(memo.touched != nil && memo.place.city == "Paris", "\(way)")
      #expect(memo.code.count == 9 && memo.tags.count == 1, "\(way)")
      #expect(memo.rank == .junior && memo.former == .senior && memo.seconds == 3600, "\(way)")
      #expect(memo.idWhenAwake == memo.id, "\(way)")
    }
  }

  @Test("Given values take precedence over initial values, and existing values are kept")
  func whatIsGivenWinsAndWhatIsThereStays() throws {
    let context = try context()
    let id = UUID()
    let memo = try context.upsert(Memo.self, matching: ["key": 1], values: ["id": id])
    #expect(memo.id == id)
    let secret = memo.secret
    try context.commit()
    try context.upsert(NoteModel(key: 1))
    #expect(memo.id == id && memo.secret == secret)
    // A refetched object is read, not created.
    context.reset()
    let again = try #require(try context.objects(Memo.self).first())
    #expect(again.id == id && again.secret == secret)
  }

  @Test("Undo and redo restore the same object")
  func undoAndRedoGiveTheSameObjectBack() throws {
    let context = try context()
    let history = UndoHistory()
    context.undoHistory = history
    let memo = context.insert(Memo.self)
    let (id, created) = (memo.id, memo.created)
    try context.commit()
    history.undo()
    history.redo()
    #expect(memo.id == id && memo.created == created)
  }
}
