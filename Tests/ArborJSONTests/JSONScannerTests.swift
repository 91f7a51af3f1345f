import ArborJSON
import Foundation
import TestLength
import Testing

@Suite struct JSONScannerTests {
  static let valid: [(String, JSONValue)] = [
    ("null", nil), ("true", true), (" false ", false), ("0", 0), ("-1", -1), ("1.5", 1.5),
    ("\"\"", ""), ("[]", []), ("{}", [:]), ("[ ]", []), ("{ }", [:]),
    ("[1,[2,[3]],{}]", [1, [2, [3]], [:]]),
    ("\r\n\t {\"a\" : [ null , {\"b\":false} ] }\n", ["a": [nil, ["b": false]]]),
    (#""\"\\\/\b\f\n\r\t\u0041\u00e9""#, .string("\"\\/\u{8}\u{C}\n\r\tAé")),
    (#""\ud83d\ude00x\u0000""#, .string("😀x\u{0}")), ("\"grüße 😀\"", "grüße 😀"),
    (#"{"A":1,"B":2}"#, ["A": 1, "B": 2]),
  ]

  @Test("Every valid form is read", arguments: valid.indices)
  func readsEveryForm(index: Int) throws {
    let (text, value) = Self.valid[index]
    #expect(try JSONValue.parse(text) == value)
  }

  /// Faulty documents, with the expected message, line, column and path.
  static let faults: [(text: String, message: String, line: Int, column: Int, path: String)] = [
    ("", "empty", 1, 1, "$"), (" \n ", "empty", 2, 2, "$"),
    ("[1,2", "“]”", 1, 5, "$[1]"), ("{\"a\":1", "“}”", 1, 7, "$.a"),
    ("{\"a\"", "“:”", 1, 5, "$.a"), ("{\"a\" 1}", "“:”", 1, 6, "$.a"),
    ("{\"a\":}", "a value", 1, 6, "$.a"), ("{\"a\":", "a value", 1, 6, "$.a"),
    ("{a:1}", "key in quotation marks", 1, 2, "$"), ("{", "“}”", 1, 2, "$"),
    ("{\"a\":1,", "a key", 1, 8, "$.a"), ("[1 2]", "“,” or “]”", 1, 4, "$[0]"),
    ("{\"a\":1 \"b\":2}", "“,” or “}”", 1, 8, "$.a"),
    ("[1,]", "comma", 1, 3, "$[0]"), ("{\"a\":1,}", "comma", 1, 7, "$.a"),
    ("[,1]", "a value", 1, 2, "$[0]"), ("1 2", "content after", 1, 3, "$"),
    ("{}]", "content after", 1, 3, "$"), ("nul", "a value", 1, 1, "$"),
    ("NaN", "a value", 1, 1, "$"), ("[Infinity]", "a value", 1, 2, "$[0]"),
    ("'a'", "a value", 1, 1, "$"), ("// c\n1", "a value", 1, 1, "$"),
    ("01", "zero", 1, 1, "$"), ("-01", "zero", 1, 2, "$"), ("[1,\n -]", "digit", 2, 3, "$[1]"),
    ("1.", "digit", 1, 3, "$"), (".5", "a value", 1, 1, "$"), ("1e", "digit", 1, 3, "$"),
    ("1e+", "digit", 1, 4, "$"), ("+1", "a value", 1, 1, "$"), ("0x10", "content after", 1, 2, "$"),
    ("\"abc", "not terminated", 1, 1, "$"), ("\"abc\\", "not terminated", 1, 1, "$"),
    ("\"a\nb\"", "control", 1, 3, "$"), ("\"a\tb\"", "control", 1, 3, "$"),
    (#""a\x""#, "escape", 1, 3, "$"), (#""\u12g4""#, "escape", 1, 2, "$"),
    (#""\u12""#, "escape", 1, 2, "$"), (#""\u١٢٣٤""#, "escape", 1, 2, "$"),
    (#"["ok","\ud83d"]"#, "surrogate", 1, 8, "$[1]"), (#""\ude00""#, "surrogate", 1, 2, "$"),
    (#""\ud83dA""#, "surrogate", 1, 2, "$"), (#""\ud83d\ud83d""#, "surrogate", 1, 2, "$"),
    (#"{"a":{"b":1,"c":2,"b":3}}"#, "twice", 1, 19, "$.a.b"),
    ("{\"x y\":[{\"é\":\n  tru}]}", "a value", 2, 3, "$[\"x y\"][0][\"é\"]"),
    ("\u{FEFF}", "is empty", 1, 1, "$"), ("\u{FEFF}[tru]", "a value", 1, 2, "$[0]"),
    ("1\u{FEFF}", "content after", 1, 2, "$"), ("[\u{FEFF}1]", "a value", 1, 2, "$[0]"),
  ]

  @Test("Malformed documents are refused with a location", arguments: faults.indices)
  func refusesAndSaysWhere(index: Int) throws {
    let fault = Self.faults[index]
    let error = try #require(throws: ArborError.self) {
      try JSONValue.parse(fault.text, source: "x.json")
    }
    #expect(error.code == .malformedDocument)
    #expect(error.message.contains(fault.message), "\(error) for \(fault.text)")
    let expected = ArborError.SourceLocation(
      source: "x.json", line: fault.line, column: fault.column, path: fault.path)
    #expect(error.location == expected, "\(fault.text)")
  }

  @Test("A leading byte order mark is ignored")
  func aByteOrderMarkInFrontIsLeftOut() throws {
    #expect(try JSONValue.parse("\u{FEFF} {\"a\": 1}") == ["a": 1])
    for layout in [JSONItemReader.Layout.document, .lines] {
      for chunkSize in [1, 2, 100] {
        let data = Data("\u{FEFF}{\"a\": 1}".utf8)
        var reader = JSONItemReader(.data(data), layout: layout, chunkSize: chunkSize)
        let item = try reader.next()?.items.first
        #expect(item?.value == ["a": 1] && item?.location.column == 1)
        #expect(try reader.next() == nil)
      }
    }
  }

  @Test("Duplicate keys are refused, whatever their escapes")
  func refusesKeysThatAreEqualHoweverWritten() throws {
    let texts = [
      #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"":1,"":2}"#,
      "{" + (0..<40).map { "\"k\($0)\":\($0)," }.joined() + #""k7":0}"#,
    ]
    for text in texts {
      let error = #expect(throws: ArborError.self) { try JSONValue.parse(text) }
      #expect(error?.code == .malformedDocument, "\(text)")
      #expect(error?.message.contains("twice") == true, "\(text): \(error?.message ?? "")")
    }
    #expect(
      try JSONValue.parse(#"{"a":{"a":1},"A":[{"a":2}]}"#) == ["a": ["a": 1], "A": [["a": 2]]])
  }

  @Test("Every malformed UTF-8 sequence is refused")
  func refusesEveryMalformedSequenceOfUTF8() throws {
    let sequences: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xE2, 0x82], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3, 0x28],
      [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x28],
    ]
    for sequence in sequences {
      for padding in 0..<10 {
        let text = Array("[\"".utf8) + Array(repeating: UInt8(ascii: "x"), count: padding)
        let error = try #require(throws: ArborError.self, "\(sequence)") {
          try JSONValue.parse(Data(text + sequence + Array("\"]".utf8)))
        }
        #expect(error.message.contains("UTF-8"))
        #expect(error.location?.column == 3 + padding)
      }
    }
  }

  @Test("UTF-8 sequences of two and three bytes are accepted as in the standard library")
  func agreesWithTheStandardLibraryOnAllTwoAndThreeByteSequences() throws {
    for lead in UInt8(0xC0)...0xF7 {
      for second in stride(from: UInt8(0x70), through: 0xF0, by: 1) {
        for third: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] {
          let bytes: [UInt8] = [lead, second, third]
          let isSound = String(validating: bytes, as: UTF8.self) != nil
          let document = Data([0x22] + bytes + [0x22])
          let isRead = (try? JSONValue.parse(document)) != nil
          #expect(isRead == isSound || bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C })
        }
      }
    }
  }

  @Test("Special bytes are found at every position of a word")
  func findsSpecialBytesAtEveryPlaceOfAWord() throws {
    for count in 0..<40 {
      let plain = String(repeating: "x", count: count)
      #expect(try JSONValue.parse("\"\(plain)\"") == .string(plain))
      #expect(try JSONValue.parse("\"\(plain)\\n\(plain)\"") == .string(plain + "\n" + plain))
      #expect(try JSONValue.parse("\"\(plain)é\(plain)\"") == .string(plain + "é" + plain))
      #expect(try JSONValue.parse("\"\(plain)\u{7F}!#[]\"") == .string(plain + "\u{7F}!#[]"))
      #expect(throws: ArborError.self) { try JSONValue.parse("\"\(plain)\u{1F}\(plain)\"") }
    }
  }

  @Test("Depth and size are limited without recursion")
  func limitsDepthAndSizeWithoutRecursion() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try JSONValue.parse(nested(128)) }
    for depth in [129, 1_000_000] {
      let error = try #require(throws: ArborError.self) { try JSONValue.parse(nested(depth)) }
      #expect(error.code == .limitExceeded)
      #expect(error.location?.column == 129)
    }
    var limits = JSONLimits()
    limits.maximumSize = 4
    #expect(throws: Never.self) { try JSONValue.parse("1234", limits: limits) }
    let error = try #require(throws: ArborError.self) {
      try JSONValue.parse("12345", limits: limits)
    }
    #expect(error.code == .limitExceeded)
  }

  @Test("Truncated documents are refused")
  func neverReadsWhatIsCutOff() throws {
    let text = #"{"a":[1,-2.5e3,true,null,"é\ud83d\ude00\n"],"b":{"c":"d"}}"#
    let data = Data(text.utf8)
    _ = try JSONValue.parse(data)
    for count in 0..<data.count {
      let error = #expect(throws: ArborError.self) { try JSONValue.parse(data.prefix(count)) }
      #expect(error?.code == .malformedDocument, "\(count) bytes")
    }
  }

  /// Damaged documents are rejected with a location, or are accepted by Foundation as well and
  /// written back unchanged.
  @Test("Damaged documents are refused with a location, or are valid")
  func survivesDamage() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let sound = Array(
      #"{"a":[1,-2.5e3,true,null,"é\ud83d\ude00\n"],"b":{"c":"d","e":[]},"f":0.10}"#.utf8)
    let spare = Array("{}[]\",:\\u0019e-.tn\n\u{80}é".utf8) + [0x00, 0x1F, 0xC3, 0xED, 0xFF]
    for _ in 0..<4_000 {
      var bytes = sound
      for _ in 0...(generator.next() % 3) {
        let offset = Int(generator.next() % UInt64(bytes.count))
        switch generator.next() % 3 {
        case 0: bytes[offset] = spare[Int(generator.next() % UInt64(spare.count))]
        case 1: bytes.remove(at: offset)
        default: bytes.insert(spare[Int(generator.next() % UInt64(spare.count))], at: offset)
        }
      }
      let data = Data(bytes)
      do {
        let value = try JSONValue.parse(data)
        #expect(try JSONValue.parse(value.data()) == value, "seed \(seed)")
        let isFoundations = (try? JSONSerialization.jsonObject(with: data)) != nil
        #expect(isFoundations || Self.hasExtremeNumber(value), "seed \(seed)")
      } catch {
        let location = try #require(error.location, "seed \(seed)")
        #expect(location.line >= 1 && location.column >= 1, "seed \(seed)")
      }
    }
  }

  private static func hasExtremeNumber(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let number): number.double.map { $0.magnitude > 1e300 } ?? true
    case .array(let elements): elements.contains(where: hasExtremeNumber)
    case .object(let object): object.values.contains(where: hasExtremeNumber)
    default: false
    }
  }
}

@Suite("Documents in other encodings") struct JSONEncodingTests {
  private static let text = #"[{"id": 1}]"#

  private static func document(_ encoding: String.Encoding, mark: [UInt8]) -> Data {
    Data(mark) + (text.data(using: encoding) ?? Data())
  }

  @Test(
    "A document in UTF-16 or UTF-32 is rejected as such, with and without a byte order mark",
    arguments: [
      document(.utf16LittleEndian, mark: [0xFF, 0xFE]), document(.utf16LittleEndian, mark: []),
      document(.utf16BigEndian, mark: [0xFE, 0xFF]), document(.utf16BigEndian, mark: []),
      document(.utf32LittleEndian, mark: [0xFF, 0xFE, 0, 0]),
      document(.utf32LittleEndian, mark: []),
      document(.utf32BigEndian, mark: [0, 0, 0xFE, 0xFF]), document(.utf32BigEndian, mark: []),
    ])
  func otherEncodings(data: Data) throws {
    let message = "The document is encoded as UTF-16 or UTF-32. Save it as UTF-8."
    let error = #expect(throws: ArborError.self) { try JSONValue.parse(data) }
    #expect(error?.code == .malformedDocument && error?.message == message)
    var reader = JSONItemReader(.data(data), chunkSize: 1)
    let read = #expect(throws: ArborError.self) { _ = try reader.next() }
    #expect(read?.code == .malformedDocument && read?.message == message)
  }
}
