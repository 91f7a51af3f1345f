import ArborExchange
import ArborModel
import Foundation
import Testing

@Suite struct SeedTextTests {
  @Test("A file in JSON Lines format has a document per line")
  func aFileOfLinesHoldsADocumentOnEach() throws {
    let workshop = try SeedWorkshop()
    for name in ["a.ndjson", "b.jsonl", "c.NDJSON"] {
      let url = try workshop.write(
        "{\"Company\": {\"$id\": \"\(name)\"}}\r\n\n \t\n{\"Employee\": [{\"company\": {\"$ref\": "
          + "\"\(name)\"}}, {}]}", to: name)
      let report = try workshop.context.seed(from: .file(url))
      #expect(report.created == ["Company": 1, "Employee": 2])
      #expect(report.objects.count == 3 && report.documents == [url])
    }
    try workshop.finish()
  }

  @Test("An empty file in JSON Lines format creates nothing")
  func anEmptyFileOfLinesCreatesNothing() throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write("\n\n", to: "a.ndjson")
    #expect(try workshop.context.seed(from: .file(url)).count == 0)
  }

  @Test("Errors contain the line of the file")
  func errorsNameTheLineOfTheFile() throws {
    let workshop = try SeedWorkshop()
    for (text, line, column) in [
      ("{\"Company\": {}}\n\n{\"Company\": {\"companyID\": true}}\n", 3, 27),
      ("{\"Company\": {}}\n{\"Company\": {]}", 2, 14),
      ("{\"Company\": {}} {\"Company\": {}}", 1, 17),
    ] {
      let error = try workshop.failure(ofSeedFrom: [try workshop.write(text, to: "a.ndjson")])
      #expect(error.location?.line == line && error.location?.column == column, "\(error)")
    }
  }

  @Test("Other files contain a single document")
  func otherFilesHoldOneDocument() throws {
    let workshop = try SeedWorkshop()
    let error = try workshop.failure(of: "{\"Company\": {}}\n{\"Company\": {}}")
    #expect(error.message.contains("content after the document's value"))
  }
}
