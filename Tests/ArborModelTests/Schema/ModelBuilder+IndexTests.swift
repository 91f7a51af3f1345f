import ArborModel
import Testing

@Suite struct ModelBuilderIndexTests {
  @Test func writesWhatDescriptionsSay() throws {
    let model = try ManagedObjectModel {
      Entity("Task") {
        Attribute("title", .string)
        Attribute("rank", .integer32)
        Index("byRank", on: "-rank", "title")
        Index("byTitle", on: .folded("title"), .folded("-title"))
        Index("open", on: "rank", where: "rank > 3", isUnique: true)
        Index(text: "title")
        Index(text: "title", name: "words", where: "rank > 3")
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
    ]
    #expect(model.entities[0].fetchIndexes == expected)
  }
}
