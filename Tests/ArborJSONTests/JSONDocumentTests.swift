import ArborJSON
import Foundation
import Testing

@Suite struct JSONDocumentTests {
  private let text = """
    {
      "employees": [
        {"name": "Ädä", "hired": true},
        7
      ],
      "odd key": {"": null}
    }
    """

  @Test("Every value and key has a location")
  func locatesEveryValueAndKey() throws {
    let root = try JSONDocument(Data(text.utf8), source: "main.json").root
    var found: [String] = []
    func walk(_ node: JSONNode) {
      found.append("\(node.kind) \(node.location)")
      for element in node.elements ?? [] { walk(element) }
      for member in node.members ?? [] {
        #expect(member.keyNode.location.path == member.value.location.path)
        found.append("key \(member.keyNode.location)")
        walk(member.value)
      }
    }
    walk(root)
    #expect(
      found == [
        "an object main.json:1:1 ($)", "key main.json:2:3 ($.employees)",
        "a list main.json:2:16 ($.employees)", "an object main.json:3:5 ($.employees[0])",
        "key main.json:3:6 ($.employees[0].name)", "a string main.json:3:14 ($.employees[0].name)",
        "key main.json:3:21 ($.employees[0].hired)",
        "a Boolean main.json:3:30 ($.employees[0].hired)",
        "a number main.json:4:5 ($.employees[1])",
        "key main.json:6:3 ($[\"odd key\"])", "an object main.json:6:14 ($[\"odd key\"])",
        "key main.json:6:15 ($[\"odd key\"][\"\"])", "null main.json:6:19 ($[\"odd key\"][\"\"])",
      ])
  }

  @Test("A node has the same contents as its value")
  func nodesGiveWhatValuesGive() throws {
    let root = try JSONDocument(Data(text.utf8)).root
    #expect(root.value == (try JSONValue.parse(text)))
    let members = try #require(root.members)
    #expect(members.map(\.key) == ["employees", "odd key"])
    let elements = try #require(members[0].value.elements)
    #expect(members[0].value.count == 2)
    #expect(elements[0].members?[0].value.string == "Ädä")
    #expect(elements[0].members?[1].value.bool == true)
    #expect(elements[1].number?.int64 == 7)
    #expect(elements[1].string == nil && elements[1].members == nil && elements[1].bool == nil)
  }

  @Test("Errors contain the location but not the value")
  func errorsCarryThePlaceAndNotTheValue() throws {
    let root = try JSONDocument(Data(#"{"secret":"hunter2"}"#.utf8), source: "s").root
    let node = try #require(root.members?.first?.value)
    let error = node.error("This is wrong; write something else.")
    #expect(error.description == "s:1:11 ($.secret): This is wrong; write something else.")
  }
}
