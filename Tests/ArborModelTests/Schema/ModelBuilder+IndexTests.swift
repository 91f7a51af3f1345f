import ArborModel
import Testing

@Suite struct ModelBuilderIndexTests {
  @Test("The index builder creates the described indexes")
  func writesWhatDescriptionsSay() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Task") {
        AttributeDescription("title", .string)
        AttributeDescription("body", .string)
        AttributeDescription("rank", .integer32)
        FetchIndexDescription("byRank", on: "-rank", "title")
        FetchIndexDescription("byTitle", on: .folded("title"), .folded("-title"))
        FetchIndexDescription("open", on: "rank", where: "rank > 3", isUnique: true)
        FetchIndexDescription(text: "title")
        FetchIndexDescription(text: "title", name: "words", where: "rank > 3")
        FetchIndexDescription(text: "body", "title")
      }
    }
    let expected = [
      FetchIndexDescription(
        name: "byRank", elements: [.init("rank", isAscending: false), .init("title")]),
      FetchIndexDescription(
        name: "byTitle",
        elements: [
          .init("title", kind: .folded), .init("title", isAscending: false, kind: .folded),
        ]),
      FetchIndexDescription(
        name: "open", elements: [.init("rank")], partialIndexPredicate: "rank > 3",
        isUnique: true),
      FetchIndexDescription(name: "titleWords", elements: [.init("title", kind: .text)]),
      FetchIndexDescription(
        name: "words", elements: [.init("title", kind: .text)],
        partialIndexPredicate: "rank > 3"),
      FetchIndexDescription(
        name: "bodyWords",
        elements: [.init("body", kind: .text), .init("title", kind: .text)]),
    ]
    #expect(model.entities[0].fetchIndexes == expected)
  }

  /// A full-text index over several attributes has a database for each, whose name combines both
  /// names.
  @Test("The combined name of an index and an attribute is limited")
  func aNameMayBeTooLongWithThatOfAnAttribute() throws {
    func model(_ length: Int) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Task") {
          AttributeDescription("title", .string)
          AttributeDescription("body", .string)
          FetchIndexDescription(text: "title", "body", name: String(repeating: "w", count: length))
        }
      }
    }
    #expect(try model(194).entities[0].fetchIndexes.count == 1)
    let error = #expect(throws: ArborError.self) { try model(195) }
    let words = "too long in combination with the name of an attribute"
    #expect(error?.violations.map { $0.message.contains(words) } == [true])
  }
}
