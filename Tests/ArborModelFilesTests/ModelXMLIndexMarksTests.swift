import ArborModelFiles
import ArborModel
import Foundation
import Testing

@Suite struct ModelXMLIndexMarksTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Task", userInfo: ["note": "kept"]) {
        AttributeDescription("title", .string)
        AttributeDescription("body", .string)
        AttributeDescription("rank", .integer32)
        FetchIndexDescription("byTitle", on: .folded("-title"), "rank")
        FetchIndexDescription("once", on: "rank", where: "rank > 3", isUnique: true)
        FetchIndexDescription(text: "title")
        FetchIndexDescription(text: "title", "body", name: "all")
      }
    }
  }

  @Test("Marks of indexes are written as notes of the entity and read back")
  func marksAreNotesOfTheEntityAndComeBack() throws {
    let model = try Self.model()
    let text = try String(decoding: model.xmlData(), as: UTF8.self)
    for part in [
      #"<entry key="arbor.index.once" value="unique"/>"#,
      #"<entry key="arbor.index.titleWords" value="text"/>"#,
      #"<entry key="arbor.index.all" value="text"/>"#,
      #"<fetchIndexElement property="title" type="Binary" order="ascending"/>"#,
      #"<fetchIndexElement expression="canonical:(title)" expressionType="string""#,
      #"<entry key="note" value="kept"/>"#,
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(try ManagedObjectModel(xml: Data(text.utf8)) == model)
  }

  @Test("A changed index updates its mark")
  func aChangedIndexTakesItsMarkAlong() throws {
    var model = try ManagedObjectModel(xml: Self.model().xmlData())
    #expect(try ManagedObjectModel(xml: model.xmlData()) == model)
    model.entities[0].fetchIndexes[1].isUnique = false
    let text = try String(decoding: model.xmlData(), as: UTF8.self)
    #expect(!text.contains("arbor.index.once"))
    #expect(text.contains("arbor.index.titleWords"))
    #expect(try ManagedObjectModel(xml: Data(text.utf8)) == model)
  }

  @Test("An unknown mark is a problem")
  func anUnknownMarkIsAProblem() throws {
    let text = try String(decoding: Self.model().xmlData(), as: UTF8.self)
      .replacing(#"value="unique""#, with: #"value="uniqe""#)
    let error = #expect(throws: ArborError.self) { try ManagedObjectModel(xml: Data(text.utf8)) }
    #expect(error?.violations.first?.message.contains("Use “text”, “unique” or both") == true)
  }
}
