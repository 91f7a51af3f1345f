import ArborJSON
import Foundation
import Testing

@Suite struct JSONNodeMembersTests {
  private func root(_ text: String) throws -> JSONNode {
    try JSONDocument(Data(text.utf8)).root
  }

  @Test("Members are found in any order")
  func membersAreFoundInAnyOrder() throws {
    let object = try root(#"{"a": 1, "b": {"c": 2}, "d": [3, {"a": 4}], "\u0065": 5, "ü": 6}"#)
    for names in [["a", "b", "d", "e", "ü"], ["ü", "e", "d", "b", "a"], ["d", "d", "a", "ü"]] {
      var cursor = 0
      for name in names {
        let found = try #require(object.member(name, cursor: &cursor))
        #expect(found.value == object.value[name])
      }
    }
  }

  @Test("Missing members aren't found")
  func whatIsNoMemberIsNotFound() throws {
    let object = try root(#"{"a": {"b": 1}, "bb": "a"}"#)
    var cursor = 0
    for name in ["b", "", "aa", "A"] { #expect(object.member(name, cursor: &cursor) == nil) }
    for text in ["[1]", "{}", "null", "\"a\""] {
      var cursor = 0
      #expect(try root(text).member("a", cursor: &cursor) == nil)
    }
  }
}
