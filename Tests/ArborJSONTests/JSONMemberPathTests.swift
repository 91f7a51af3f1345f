import ArborJSON
import Foundation
import Testing

@Suite struct JSONMemberPathTests {
  @Test("Dots separate names, and backslashes escape dots")
  func dotsDescendAndBackslashesTakeTheirMeaningAway() {
    #expect(JSONMemberPath("a.b.c").names == ["a", "b", "c"])
    #expect(JSONMemberPath("a.b.c").wholeKey == "a.b.c")
    #expect(JSONMemberPath(#"API\.Log"#).names == ["API.Log"])
    #expect(JSONMemberPath(#"API\.Log"#).wholeKey == nil)
    #expect(JSONMemberPath(#"x\\.y\n\"#).names == [#"x\"#, #"y\n\"#])
    #expect(JSONMemberPath("").names == [""] && JSONMemberPath("a.").names == ["a", ""])
    #expect(JSONMemberPath(key: "a.b").names == ["a.b"])
    #expect(JSONMemberPath(" a . b ", trimsNames: true).names == ["a", "b"])
  }

  @Test("Commas separate alternatives, which follow the whole text")
  func commasSeparateAlternativesAfterTheWholeText() {
    func alternatives(_ text: String) -> [[String]] {
      JSONMemberPath.alternatives(text).map(\.names)
    }
    #expect(alternatives("a") == [["a"]])
    #expect(alternatives(" Height, cm ") == [["Height, cm"], ["Height"], ["cm"]])
    #expect(alternatives(#"Height\, cm"#) == [["Height, cm"]])
    #expect(alternatives("a.b,,c") == [["a.b,,c"], ["a", "b"], ["c"]])
    #expect(alternatives("").isEmpty && alternatives(", ,").isEmpty)
  }

  @Test("Names can also be the positions of list elements")
  func namesFindElementsOfListsToo() throws {
    let root = try JSONDocument(#"{"tags": ["x", {"y": 1}], "0": 2}"#.data(using: .utf8) ?? .init())
      .root
    #expect(root.descendant(["tags", "0"])?.string == "x")
    #expect(root.descendant(["tags", "1", "y"])?.int64 == 1)
    #expect(root.descendant(["0"])?.int64 == 2)
    for names in [["tags", "2"], ["tags", "-1"], ["tags", "x"], ["tags", "0", "0"]] {
      #expect(root.descendant(names)?.kind == nil)
    }
  }
}
