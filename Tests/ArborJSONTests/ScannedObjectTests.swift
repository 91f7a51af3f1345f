import ArborJSON
import Foundation
import Testing

/// Objects whose members are read on first access.
@Suite struct ScannedObjectTests {
  private func node(_ text: String) throws -> JSONNode { try JSONDocument(Data(text.utf8)).root }

  @Test(
    "A scanned object equals the value of its node",
    arguments: [
      "{}", #"{"a": 1, "b": {"c": [true, null, "x\\u0041"]}}"#, "[1, {}]", "7", "null", #""t""#,
      "{" + (0..<40).map { "\"k\($0)\": \($0)" }.joined(separator: ",") + "}",
    ])
  func isWhatTheDocumentHolds(text: String) throws {
    let node = try node(text)
    var kept: [JSONValue] = []
    let answer = node.tell {
      kept.append($0)
      #expect($0 == node.value && node.value == $0)
      #expect($0.hashValue == node.value.hashValue)
      #expect($0.text() == node.value.text())
      return true
    }
    #expect(answer)
    #expect(node.tell { _ in false } == false)
    #expect(kept == [node.value])
  }

  @Test("A retained value outlives its document")
  func aKeptValueOutlivesItsDocument() throws {
    var kept: JSONValue?
    func tell() throws {
      #expect(
        try node(#"{"name": "Ada", "tags": ["x", "y"]}"#).tell {
          kept = $0; return true
        })
    }
    try tell()
    let object = try #require(kept?.object)
    #expect(object.keys == ["name", "tags"] && object.count == 2)
    #expect(object["name"] == "Ada" && object["none"] == nil)
    #expect(object.map(\.key) == ["name", "tags"])
  }

  @Test("Changing a scanned object doesn't change the original")
  func changesMakeItsMembersItsOwn() throws {
    let node = try node(#"{"name": "Ada", "age": 36}"#)
    let isUntouched = node.tell { value in
      guard var object = value.object else { return false }
      object["age"] = nil
      object["born"] = 1815
      #expect(object == ["name": "Ada", "born": 1815])
      #expect(object.values == ["Ada", 1815])
      return value.object == ["name": "Ada", "age": 36]
    }
    #expect(isUntouched)
  }

  @Test("Threads can share a scanned object")
  func threadsShareIt() async throws {
    let node = try node(#"{"name": "Ada", "tags": ["x", "y"]}"#)
    var kept: JSONValue = .null
    #expect(
      node.tell {
        kept = $0; return true
      })
    let value = kept
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 { group.addTask { value.object?["name"] == "Ada" } }
      for await isRight in group { #expect(isRight) }
    }
  }
}
