import ArborData
import Foundation
import TestSupport
import Testing

/// The plans in the guide to query planning are those that the planner chooses.
///
/// A block of the guide begins with a request, `Employee where age > 40 by -name limit 3`. The plan
/// follows, and if an index would help, a line that suggests it.
@Suite struct QueryPlanningArticleTests {
  private static let model: Result<ManagedObjectModel, any Error> = Result {
    try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("country", .string, .indexed)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string)
        AttributeDescription("badge", .integer64, .unique)
        AttributeDescription("age", .integer16, .indexed)
        AttributeDescription("salary", .integer32)
        AttributeDescription("city", .string)
        AttributeDescription("notes", .string, .optional)
        AttributeDescription("isActive", .boolean, .default(true))
        RelationshipDescription("company", to: "Company", inverse: "employees")
        FetchIndexDescription("byCity", on: .folded("city"), "-age")
        FetchIndexDescription("formerByName", on: "name", where: "isActive == NO")
        FetchIndexDescription(text: "notes", name: "noteWords")
      }
    }
  }

  /// Inserts ten companies and a thousand employees.
  private func fill(_ context: ManagedObjectContext) throws {
    let cities = ["Riga", "Oslo", "Turin", "Porto"]
    let countries = ["Latvia", "Norway", "Italy"]
    var companies: [ManagedObject] = []
    for number in 0..<10 {
      let company = try context.insert("Company")
      company["name"] = "Company \(number)"
      company["country"] = countries[number % countries.count]
      companies.append(company)
    }
    for number in 0..<1000 {
      let employee = try context.insert("Employee")
      employee["name"] = "Employee \(number * 7919 % 1000)"
      employee["badge"] = number
      employee["age"] = 18 + number * 31 % 50
      employee["salary"] = 1000 + number * 17 % 4000
      employee["city"] = cities[number % cities.count]
      employee["notes"] = number % 100 == 3 ? "urgent release notes" : "nothing special"
      employee["isActive"] = number % 20 != 0
      employee["company"] = companies[number % companies.count]
    }
    try context.commit()
  }

  @Test("The plans in the guide are those of the planner")
  func plansAreThoseOfThePlanner() throws {
    let store = try PersistentStore(model: Self.model.get(), at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    try fill(context)
    let blocks = try Self.blocks()
    #expect(blocks.count > 10)
    for block in blocks {
      let lines = block.split(separator: "\n").map(String.init)
      let plan = try context.explain(Self.request(lines[0]))
      let advice = plan.suggestedIndex.map { "an index would help: \($0)" }
      let found = ["\(plan)", advice].compactMap { $0 }.joined(separator: "\n")
      #expect(found == lines.dropFirst().joined(separator: "\n"), "\(lines[0])\n\(found)")
    }
  }

  /// Parses a request.
  private static func request(_ question: String) -> FetchRequest<ManagedObject> {
    var rest = question[...]
    func take(_ word: String) -> String? {
      guard let range = rest.range(of: " \(word) ", options: .backwards) else { return nil }
      defer { rest = rest[..<range.lowerBound] }
      return String(rest[range.upperBound...])
    }
    let limit = take("limit")
    let order = take("by")
    let predicate = take("where")
    var request = FetchRequest<ManagedObject>(
      entity: String(rest), predicate: predicate.map { FetchPredicate(stringLiteral: $0) },
      sortKeys: (order ?? "").split(separator: ",").map {
        SortKey(stringLiteral: $0.trimmingCharacters(in: .whitespaces))
      })
    request.fetchLimit = limit.flatMap { Int($0) } ?? 0
    return request
  }

  private static func blocks() throws -> [String] {
    let article = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/ArborData/ArborData.docc/QueryPlanning.md")
    return try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```plan\n")
      .dropFirst().compactMap { $0.components(separatedBy: "```").first }
  }
}
