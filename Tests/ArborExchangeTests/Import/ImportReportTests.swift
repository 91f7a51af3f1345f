import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Reports of values that an import skipped and of names that match nothing.
@Suite struct ImportReportTests {
  private func lenient() -> ImportOptions {
    var options = ImportOptions()
    options.lenient = true
    options.report = ImportReport()
    return options
  }

  @Test("A lenient import keeps what it can and lists the values it skipped")
  func leftOutValuesAreCountedAndListed() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Replace"))
    try workshop.list(#"[{"employeeID": 1, "friends": [{"employeeID": 2, "name": "B"}]}]"#)
    let options = lenient()
    let objects = try workshop.list(
      #"""
      [{"employeeID": 1, "age": "x", "name": "A", "friends": 5}, {"name": "no identity"}, 7,
       {"employeeID": 3, "friends": [{"employeeID": 4}, 8, {"name": "C"}], "department": {}}]
      """#, as: "Employee", options)
    #expect(objects.count == 2)
    let employees = try workshop.all("Employee")
    #expect(try employees.map { try $0.value(forKey: "employeeID") } == [1, 2, 3, 4])
    #expect(try employees[0].value(forKey: "age").isNull)
    // A value of the wrong type leaves existing members unchanged.
    #expect(try employees[0].objects(forKey: "friends").fetch() == [employees[1]])
    #expect(try employees[2].objects(forKey: "friends").fetch() == [employees[3]])
    let findings = try #require(options.report?.findings)
    #expect(findings.droppedCount == 7)
    let places = Set(findings.dropped.map { $0.location?.path ?? "" })
    #expect(
      places == [
        "$[0].age", "$[0].friends", "$[1]", "$[2]", "$[3].friends[1]", "$[3].friends[2]",
        "$[3].department",
      ])
    let age = try #require(findings.dropped.first { $0.property == "age" })
    #expect(age.entity == "Employee" && age.reason.contains("Employee.age"))
    #expect(findings.warnings.isEmpty)
    try workshop.finish()
  }

  @Test("Only the first skipped values are listed")
  func manyLeftOutValues() throws {
    let workshop = try ImportWorkshop()
    let options = lenient()
    let items = (0..<1_000).map { "{\"employeeID\": \($0), \"age\": \"x\"}" }
    try workshop.list("[" + items.joined(separator: ",") + "]", as: "Employee", options)
    let findings = try #require(options.report?.findings)
    #expect(findings.droppedCount == 1_000)
    #expect(
      findings.dropped.map { $0.location?.path }
        == (0..<ImportFindings.maximumListed).map { "$[\($0)].age" })
    #expect(try workshop.all("Employee").count == 1_000)
    try workshop.finish()
  }

  @Test("A lenient import reports a document of an unexpected shape")
  func anotherShape() throws {
    let workshop = try ImportWorkshop()
    for text in [#"{"employees": [{"employeeID": 1}]}"#, "5"] {
      let options = lenient()
      let data = Data(text.utf8)
      #expect(
        try workshop.context.importObjects(from: .data(data), as: "Employee", options: options)
          .isEmpty)
      let findings = try #require(options.report?.findings)
      #expect(findings.droppedCount == 1)
      #expect(findings.dropped.first?.reason.hasPrefix("The document is") == true)
    }
    let options = lenient()
    #expect(
      try workshop.one(#"{"employeeID": 1, "hired": "never"}"#, as: "Employee", options) != nil)
    #expect(options.report?.findings.dropped.map(\.property) == ["hired"])
    try workshop.finish()
  }

  private static var named: [EntityDescription] {
    [
      EntityDescription(
        name: "Country",
        attributes: [
          AttributeDescription(name: "code", type: .string, isOptional: true),
          AttributeDescription(
            name: "height", type: .double, isOptional: true, userInfo: ["ImportName": "Hieght, m"]),
          AttributeDescription(name: "area", type: .double, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "capital", destination: "City", inverse: "country",
            userInfo: ["ImportName": "main.city"]),
          RelationshipDescription(
            name: "neighbours", destination: "Country", inverse: "neighbours", isToMany: true,
            userInfo: ["ImportReference": "{borders}"]),
        ],
        userInfo: ["PrimaryAttribute": "code"]),
      EntityDescription(
        name: "City",
        attributes: [
          AttributeDescription(
            name: "name", type: .string, isOptional: true, userInfo: ["ImportName": "label"])
        ],
        relationships: [
          RelationshipDescription(name: "country", destination: "Country", inverse: "capital")
        ]),
    ]
  }

  @Test("A name in the model that no item contains causes a warning")
  func namesThatLeadNowhere() throws {
    let workshop = try ImportWorkshop(Self.named)
    var options = ImportOptions()
    options.report = ImportReport()
    try workshop.list(
      #"[{"code": "A", "main": {"city": {"name": "x"}}}, {"code": "B"}]"#, as: "Country", options)
    #expect(
      options.report?.findings.warnings == [
        "No item has “label”, which City.name is read from.",
        "No item has “m”, which Country.height is read from.",
        "No item has “borders”, which the ImportReference of Country.neighbours reads.",
      ])
    options.report = ImportReport()
    try workshop.list(
      #"""
      [{"code": "A", "Hieght, m": 5}, {"code": "B", "main": {"city": {"label": "x"}},
        "borders": ["A", null]}]
      """#, as: "Country", options)
    #expect(options.report?.findings == ImportFindings())
    options.report = ImportReport()
    try workshop.list("[]", as: "Country", options)
    #expect(options.report?.findings == ImportFindings())
    try workshop.finish()
  }

  @Test("The last step of a batched import has the findings of all batches")
  func findingsOfBatches() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "countries.json")
    var items = (0..<25).map { "{\"code\": \"\($0)\", \"area\": \"?\"}" }
    items[20] = #"{"code": "20", "borders": ["3"]}"#
    try Data("[\(items.joined(separator: ",\n"))]".utf8).write(to: file)
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: Self.named), at: .inMemory)
    var options = ImportOptions()
    options.lenient = true
    options.batchSize = 4
    options.report = ImportReport()
    let end = try await store.importObjects(from: .file(file), as: "Country", options: options)
      .finish()
    #expect(end.inserted == 25 && end.findings.droppedCount == 24)
    #expect(end.findings.dropped.map { $0.location?.line } == Array(1...20))
    #expect(
      end.findings.warnings == [
        "No item has “main.city”, which Country.capital is read from.",
        "No item has “m”, which Country.height is read from.",
      ])
    #expect(options.report?.findings == end.findings)
    try store.check()
  }
}
