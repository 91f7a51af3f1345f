import Testing
import ArborJSON

@Suite struct JSONFinderTests {
  private func found(_ keys: [String], in text: String) -> String? {
    Array(text.utf8).withUnsafeBytes { bytes in
      JSONFinder.find(keys.map { Array($0.utf8) }, in: bytes).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
  }

  @Test(
    "A part of a document is found by its keys",
    arguments: [
      (#"{"a":1}"#, ["a"], "1"), (#" { "b" : [1,{"a":2}] , "a" : "x" } "#, ["a"], #""x""#),
      (#"{"a":{"b":{"c":null}}}"#, ["a", "b", "c"], "null"),
      (#"{"x":"}\"{","a":{"b":true}}"#, ["a", "b"], "true"),
      (#"{"q\"\u0041":7}"#, ["q\"A"], "7"), (#"{"é":-1.5e3,"f":0}"#, ["é"], "-1.5e3"),
      (#"{"a":{"b":1}}"#, ["a"], #"{"b":1}"#), (#"{"a":1,"a":2}"#, ["a"], "1"),
    ])
  func findsParts(_ text: String, _ keys: [String], _ part: String) {
    #expect(found(keys, in: text) == part)
  }

  @Test(
    "Keys that don't exist, or are in malformed documents, aren't found",
    arguments: [
      "", " ", "{", "{}", "[]", "1", "null", #"{"a"#, #"{"a""#, #"{"a":"#, #"{"a": "#, #"{"a":"x"#,
      #"{"a":["#, #"{"a":}"#, #"{"b":1}"#, #"{"b":1,}"#, #"{"b" 1,"a":2}"#, #"["a"]"#, #"{"a\"#,
      #"{"b":"\"#, #"{"\u12":1}"#,
    ])
  func missesWhatIsNotThere(_ text: String) {
    #expect(found(["a"], in: text) == nil)
  }

  @Test("Searching arbitrary bytes finds some of them or nothing")
  func damagedTextsAreHarmless() throws {
    let text = Array(#"{"b":[{"x\n":"y"},-1.5],"c":{"a":"é\u00e9"},"a":{"a":"\"1"}}"#.utf8)
    let keys = [Array("a".utf8), Array("a".utf8)]
    for index in text.indices {
      for byte in [0x00, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x75, 0x7B, 0x7D, 0xFF] as [UInt8] {
        var damaged = text
        damaged[index] = byte
        try damaged.withUnsafeBytes { bytes in
          for prefix in [bytes, UnsafeRawBufferPointer(rebasing: bytes[...index])] {
            guard let found = JSONFinder.find(keys, in: prefix) else { continue }
            let start = try #require(found.baseAddress) - (try #require(prefix.baseAddress))
            #expect(start >= 0 && start + found.count <= prefix.count)
            _ = (JSONNumber.int64(found), JSONNumber.double(found), JSONNumber(found))
            _ = JSONScanner.text(found)
          }
        }
      }
    }
  }
}
