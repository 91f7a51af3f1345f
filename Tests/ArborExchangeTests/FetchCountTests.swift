import ArborJSON
import ArborExchange
import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The objects of all items of a document are looked up together, with one fetch per entity and set
/// of identifying attributes.
@Suite("The number of fetches of an import") struct FetchCountTests {
  /// A recorder of the queries of a context.
  private final class Queries: Sendable {
    private let entities = Lock<[String]>([])

    init(of context: ManagedObjectContext) {
      context.session.watchQueries { [self] entity, _ in entities.withLock { $0.append(entity) } }
    }

    /// Returns the number of queries per entity since the last call.
    func take() -> [String: Int] {
      entities.withLock { entities in
        defer { entities = [] }
        return entities.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
    }
  }

  @Test("Every query of a context is counted")
  func everyQueryIsCounted() throws {
    let workshop = try ImportWorkshop()
    let queries = Queries(of: workshop.context)
    try workshop.list(#"[{"employeeID": 1}]"#)
    _ = queries.take()
    _ = try workshop.all("Employee")
    _ = try workshop.context.count(FetchRequest<ManagedObject>(entity: "Room"))
    #expect(try workshop.context.fetchOne("Employee", matching: "employeeID == 1") != nil)
    #expect(queries.take() == ["Employee": 2, "Room": 1])
    try workshop.finish()
    workshop.context.reset()
    _ = queries.take()
    _ = try workshop.all("Employee")
    #expect(queries.take() == ["Employee": 1])
  }

  @Test("Finds of a seed need one fetch per entity and set of attributes")
  func manyFindsAreOneFetchPerEntity() throws {
    let workshop = try SeedWorkshop()
    let employees = (0..<50).map { "{\"name\": \"e\($0)\", \"employeeID\": \($0)}" }
    let departments = (0..<50).map { "{\"title\": \"d\($0)\"}" }
    try workshop.seed("{\"Employee\": [\(employees.joined(separator: ","))]}")
    try workshop.context.commit()
    let queries = Queries(of: workshop.context)
    let byName = (0..<25).map { "{\"$find\": \"Employee\", \"name\": \"e\($0)\"}" }
    let byNumber = (25..<50).map { "{\"$find\": \"Employee\", \"employeeID\": \($0)}" }
    let byTitle = (0..<50).map { "{\"$find\": \"Department\", \"title\": \"d\($0)\"}" }
    try workshop.seed(
      """
      {"seeds": [{"Department": [\(departments.joined(separator: ","))]},
                 {"Company": {"employees": [\((byName + byNumber).joined(separator: ","))],
                              "departments": [\(byTitle.joined(separator: ","))]}}]}
      """)
    #expect(queries.take() == ["Employee": 2, "Department": 1])
    let company = try workshop.only("Company")
    #expect(try company.objects(forKey: "employees").count() == 50)
    #expect(try company.objects(forKey: "departments").count() == 50)
    try workshop.finish()
  }

  @Test("Imported items need one fetch per entity")
  func manyItemsAreOneFetchPerEntity() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    let items = (0..<100).map {
      """
      {"employeeID": \($0), "name": "e\($0)", "department": {"departmentID": "\($0 % 7)"},
       "friends": [{"employeeID": \($0 + 1)}, {"employeeID": \($0 + 1000)}]}
      """
    }
    let text = "[\(items.joined(separator: ","))]"
    let queries = Queries(of: workshop.context)
    for _ in 0..<3 {
      try workshop.list(text)
      #expect(queries.take() == ["Employee": 1, "Department": 1])
    }
    try workshop.context.commit()
    try workshop.list(text)
    #expect(queries.take() == ["Employee": 1, "Department": 1])
    #expect(!workshop.context.hasChanges)
    try workshop.finish()
  }

  @Test("Synced items need one fetch per entity")
  func manySyncedItemsAreOneFetchPerEntity() throws {
    let workshop = try ImportWorkshop()
    let items = (0..<50).map { item in
      let employees = (0..<4).map { "{\"id\": \(item * 4 + $0)}" }.joined(separator: ",")
      return "{\"id\": \"\(item)\", \"title\": \"t\", \"employees\": [\(employees)]}"
    }
    let json = try JSONValue.parse("[\(items.joined(separator: ","))]")
    let queries = Queries(of: workshop.context)
    for _ in 0..<2 {
      let report = try workshop.context.sync(from: .value(json), using: DepartmentSerializer())
      #expect(report.inserted + report.unchanged == 250)
      #expect(queries.take() == ["Department": 1, "Employee": 1])
    }
    try workshop.finish()
  }

  @Test("Upserted models need one fetch per entity")
  func manyUpsertsAreOneFetchPerEntity() throws {
    let workshop = try ModelWorkshop()
    let banners = (0..<50).map { id in
      FullBanner(
        id: id, children: [KeyedItem(title: "i\(id)"), KeyedItem(title: "j\(id)")],
        tags: [Tag(name: "t\(id % 5)")], cover: KeyedItem(title: "i\(id)"))
    }
    let queries = Queries(of: workshop.context)
    for _ in 0..<2 {
      try workshop.context.upsert(banners)
      #expect(queries.take() == ["Banner": 1, "Item": 1, "Tag": 1])
    }
    try workshop.finish()
  }

  @Test("Reading the values of objects needs one fetch for them")
  func manyValuesAreOneFetch() throws {
    let workshop = try ModelWorkshop()
    try workshop.context.upsert((0..<20).map { FullBanner(id: $0, children: [KeyedItem()]) })
    try workshop.context.commit()
    workshop.context.reset()
    let queries = Queries(of: workshop.context)
    #expect(try workshop.context.values(FullBanner.self).count == 20)
    #expect(queries.take() == ["Banner": 1])
    try workshop.finish()
  }
}
