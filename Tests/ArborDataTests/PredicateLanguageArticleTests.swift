import ArborData
import Foundation
import Testing

/// Every predicate in the article about the predicate language is valid for the article's model.
@Suite struct PredicateLanguageArticleTests {
  private static func model() throws -> ManagedObjectModel {
    let model = try ManagedObjectModel {
      EntityDescription("Department") {
        AttributeDescription("name", .string)
        AttributeDescription("floor", .integer32, .optional)
        RelationshipDescription("staff", to: "Employee", inverse: "department", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string)
        AttributeDescription("age", .integer32)
        AttributeDescription("salary", .decimal, .optional)
        AttributeDescription("hired", .date, .optional)
        AttributeDescription("notes", .string, .optional)
        AttributeDescription("isActive", .boolean, .default(true))
        RelationshipDescription("department", to: "Department", inverse: "staff")
        RelationshipDescription("skills", to: "Skill", inverse: "holders", .toMany)
      }
      EntityDescription("Skill") {
        AttributeDescription("title", .string)
        AttributeDescription("level", .integer16, .default(1))
        RelationshipDescription("holders", to: "Employee", inverse: "skills", .toMany)
      }
    }
    return model
  }

  /// The expected names of the matching employees for some of the predicates.
  private static let found: [String: [String]] = [
    "ANY skills.title == \"Swift\"": ["Ada"],
    "skills.@count >= 2": ["Ada"],
    "SUBQUERY(skills, $s, $s.level > 3 AND $s.title != \"Swift\").@count > 0": ["Ada"],
    "SUBQUERY(department.staff, $e, $e.age > SELF.age).@count == 0": ["Olaf", "Émile"],
    "NONE department.staff.age > 60": ["Olaf"],
    "name BEGINSWITH[cd] \"é\" AND age BETWEEN {18, 65}": ["Émile"],
    "notes TOKENMATCHES \"annual review*\"": ["Ada"],
    "(age + 1) * 2 > 40": ["Ada", "Émile"],
    "modulus:by:(age, 10) == 0": ["Olaf"],
    "($double := age * 2) > 60 AND $double < 130": ["Ada", "Émile"],
  ]

  @Test("The article's predicates are valid and match the expected employees")
  func everyPredicateFindsWhatItSays() throws {
    let store = try PersistentStore(model: Self.model(), at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let research = try context.insert("Department")
    research["name"] = "R&D"
    for (name, age) in [("Ada", 36), ("Émile", 61), ("Olaf", 10)] {
      let employee = try context.insert("Employee")
      employee["name"] = name
      employee["age"] = age
      if name != "Olaf" { employee["department"] = research }
      guard name == "Ada" else { continue }
      employee["notes"] = "Reviewed: annual, in May"
      for (title, level) in [("Swift", 5), ("Go", 4)] {
        let skill = try context.insert("Skill")
        skill["title"] = title
        skill["level"] = level
        skill["holders"] = [employee]
      }
    }
    try context.commit()

    let predicates = try Self.predicates()
    #expect(predicates.count > 15)
    #expect(Set(Self.found.keys).subtracting(predicates) == [], "what is checked stands there")
    for text in predicates {
      let request = FetchRequest<ManagedObject>(
        entity: "Employee", predicate: try FetchPredicate(format: text), sortKeys: ["name"])
      let names = try context.fetch(request).map { $0["name"] as String }
      if let expected = Self.found[text] { #expect(names == expected, "\(text)") }
    }
    try store.check()
  }

  @Test("The article shows the model of this test")
  func theArticleShowsThisModel() throws {
    let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let lines = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    let block = try #require(try Self.blocks("swift").first)
    for line in block.split(separator: "\n") {
      #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }

  private static func predicates() throws -> [String] {
    try blocks("predicate").flatMap { $0.split(separator: "\n").map(String.init) }
  }

  /// Returns the article's code blocks of a language.
  private static func blocks(_ language: String) throws -> [String] {
    let path = "../../Sources/ArborData/ArborData.docc/PredicateLanguage.md"
    let article = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: path),
      encoding: .utf8)
    return article.components(separatedBy: "```\(language)\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
  }
}
