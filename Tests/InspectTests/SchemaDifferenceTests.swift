import ArborData
import Foundation
import TestSupport
import Testing

/// The differences of two models, printed and drawn by `schema --against`.
@Suite struct SchemaDifferenceTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  private func path(_ name: String) -> String { office.folder.url.appending(path: name).path }

  /// Writes another model: Office is renamed, Project removed, Team added, and Employee changed.
  private func makeNext() throws -> String {
    let model = try ManagedObjectModel {
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("born", .date, .optional)
      }
      EntityDescription("Employee", parent: "Person") {
        AttributeDescription("badge", .uuid, .unique)
        AttributeDescription("age", .integer32, .indexed, .default(18))
        AttributeDescription("salary", .decimal, .optional)
        AttributeDescription("isActive", .boolean, .default(true))
        AttributeDescription("photo", .binary, .optional)
        AttributeDescription("page", .uri, .optional)
        AttributeDescription("nickname", .string, .optional)
        RelationshipDescription("office", to: "Site", inverse: "employees")
        RelationshipDescription("team", to: "Team", inverse: "members", .optional)
      }
      EntityDescription("Site", renamedFrom: "Office") {
        AttributeDescription("city", .string)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "office", .toMany, .ordered, deleteRule: .cascade)
      }
      EntityDescription("Team") {
        RelationshipDescription("members", to: "Employee", inverse: "team", .toMany)
      }
    }
    try model.jsonData().write(to: URL(filePath: path("Next.model.json")))
    return path("Next.model.json")
  }

  @Test("Added, removed and changed parts of a model are printed with their signs")
  func differencesArePrinted() throws {
    let outcome = try Inspection(office.url).run("schema", "--against", makeNext())
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.output == """
        + added   − removed   ~ changed

        ~ entity Employee: Person
            the index age is rebuilt
          ~ age       integer32  the type changes from integer16 to integer32
          + nickname  string?
          + team      Team
          − rate      double     its values are dropped
          − projects  [Project]  its links are dropped

        ~ entity Site
            renamed from Office

        + entity Team
          + members  [Employee]

        − entity Project
          − title    string
          − members  [Employee]

        ~ model
            the request elders is removed

        """, "\(outcome.output)")
    let json = try #require(
      try Inspection(office.url).json("schema", "--against", makeNext()) as? [String: Any])
    let entities = try #require(json["entities"] as? [[String: Any]])
    #expect(
      entities.map { $0["name"] as? String } == ["Person", "Employee", "Site", "Team", "Project"])
    #expect(
      entities.map { $0["mark"] as? String } == [nil, "changed", "changed", "added", "removed"])
  }

  @Test("The differences are drawn as SVG and Mermaid, not only by color")
  func differencesAreDrawn() throws {
    let inspection = Inspection(office.url)
    let outcome = try inspection.run(
      "schema", "--against", makeNext(), "--svg", path("next.svg"), "--mermaid")
    #expect(outcome.status == 0, "\(outcome)")
    let mermaid = outcome.output
    #expect(mermaid.hasPrefix("classDiagram\n  note \"+ added, - removed, ~ changed\"\n"))
    #expect(
      mermaid.contains("  class E2[\"~ Employee\"] {\n    uuid badge\n    ~integer32 age\n"))
    #expect(mermaid.contains("\n    +string? nickname\n"), "\(mermaid)")
    #expect(mermaid.contains("\n  class E5[\"- Project\"] {\n    -string title\n"))
    #expect(mermaid.contains("\n  E1 <|-- E2\n"))
    #expect(mermaid.contains("\n  E2 \"*\" -- \"1\" E4 : + team / + members\n"), "\(mermaid)")
    let svg = try String(contentsOfFile: path("next.svg"), encoding: .utf8)
    for text in [
      ">~ Employee</text>", ">+ nickname</text>", ">− rate</text>", ">+ Team</text>",
      ">− Project</text>", ">+ added</text>", ">− removed</text>", ">~ changed</text>",
      "<path class=\"edge added\"", "Office.arbor → Next.model.json",
    ] {
      #expect(svg.contains(text), "\(text)")
    }
    // An existing file is kept.
    let again = try inspection.run("schema", "--against", makeNext(), "--svg", path("next.svg"))
    #expect(again.status == 1 && again.errors.contains("already exists"), "\(again)")
  }

  @Test("A single model is drawn without signs")
  func aModelAloneIsDrawn() throws {
    let outcome = try Inspection(office.url).run("schema", "--mermaid", "--svg", path("all.svg"))
    #expect(outcome.output.contains("  class E2[\"Employee\"] {\n    uuid badge\n"))
    #expect(!outcome.output.contains("note"))
    let svg = try String(contentsOfFile: path("all.svg"), encoding: .utf8)
    #expect(svg.contains(">Employee</text>") && !svg.contains(">+ added"))
  }

  @Test("Equal models, missing files and contradictory options are reported")
  func whatCannotBeComparedIsReported() throws {
    let same = path("Same.model.json")
    try office.model.jsonData().write(to: URL(filePath: same))
    let inspection = Inspection(office.url)
    #expect(try inspection.run("schema", "--against", same).output == "The models are equal.\n")
    let missing = try inspection.run("schema", "--against", path("None.model.json"))
    #expect(missing.status == 2 && missing.errors.contains("None.model.json"), "\(missing)")
    for arguments in [["--swift"], ["--macros"]] {
      let refused = try inspection.run("schema", "--against", same, arguments[0])
      #expect(refused.status == 64, "\(refused)")
    }
    let served = try Inspection.program.run(
      ["serve", office.url.path, "--against", path("None.model.json")])
    #expect(served.status == 2 && served.output.isEmpty, "\(served)")
  }
}
