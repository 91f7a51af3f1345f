import ArborJSON
import Testing

@Suite struct JSONValueTests {
  private let document: JSONValue = ["list": [1, "two", [true, nil]], "half": 0.5, "none": nil]

  @Test("Each accessor returns only values of its kind")
  func givesEachKindOnlyAsItself() {
    let kinds: [JSONValue] = [nil, true, 1, "s", [], [:]]
    #expect(kinds.map(\.isNull) == [true, false, false, false, false, false])
    #expect(kinds.map { $0.bool != nil } == [false, true, false, false, false, false])
    #expect(kinds.map { $0.int64 != nil } == [false, false, true, false, false, false])
    #expect(kinds.map { $0.string != nil } == [false, false, false, true, false, false])
    #expect(kinds.map { $0.array != nil } == [false, false, false, false, true, false])
    #expect(kinds.map { $0.object != nil } == [false, false, false, false, false, true])
  }

  @Test("Subscripts navigate the document")
  func subscriptsWalkTheDocument() {
    #expect(document["list"]?[1]?.string == "two")
    #expect(document["list"]?[2]?[0]?.bool == true)
    #expect(document["list"]?[3] == nil)
    #expect(document["list"]?[-1] == nil)
    #expect(document["none"]?.isNull == true)
    #expect(document["absent"] == nil)
    #expect(document[0] == nil)
    #expect(document["half"]?.number?.double == 0.5)
  }

  @Test("The description is JSON")
  func describesItselfAsJSON() {
    #expect(document.description == #"{"list":[1,"two",[true,null]],"half":0.5,"none":null}"#)
  }
}
