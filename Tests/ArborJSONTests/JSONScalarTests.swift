import Testing
import ArborJSON

@Suite struct JSONScalarTests {
  private func with<T>(_ text: String, _ body: (UnsafeRawBufferPointer) -> T) -> T {
    Array(text.utf8).withUnsafeBytes(body)
  }

  @Test(
    "Numbers are parsed from bytes",
    arguments: [
      ("0", 0, 0.0), ("-12", -12, -12.0), ("1.5", nil, 1.5), ("2.0", 2, 2.0), ("1e2", 100, 100.0),
      ("-0", 0, -0.0), ("9223372036854775807", Int64.max, 0x1p63), ("1e400", nil, nil),
      ("0.1234567890123456789", nil, 0.1234567890123456789),
    ] as [(String, Int64?, Double?)])
  func numbers(_ text: String, _ whole: Int64?, _ double: Double?) {
    #expect(with(text, JSONNumber.int64) == whole)
    #expect(with(text, JSONNumber.double) == double)
    #expect(
      with(text) { JSONNumber($0)?.text } == (Int64(text).map { "\($0)" } ?? text) || text == "-0")
  }

  @Test(
    "Malformed numbers are not parsed",
    arguments: ["", "-", "01", "1 ", "1.", "x", "\"1\"", "1e", "null"])
  func whatIsNoNumber(_ text: String) {
    #expect(with(text, JSONNumber.int64) == nil && with(text, JSONNumber.double) == nil)
    #expect(with(text) { JSONNumber($0)?.text } == nil)
  }

  @Test(
    "Texts are parsed from bytes",
    arguments: [
      (#""""#, ""), (#""a é""#, "a é"), (#""\"\u00e9\n""#, "\"é\n"), (#""\ud83d\ude00""#, "😀"),
    ])
  func texts(_ text: String, _ value: String) {
    #expect(with(text, JSONScanner.text) == value)
  }

  @Test(
    "Malformed texts are not parsed",
    arguments: ["", "\"", "1", "\"a", "a\"", #""\""#, #""\x""#, #""\ud800""#, #""a"b"#])
  func whatIsNoText(_ text: String) {
    #expect(with(text, JSONScanner.text) == nil)
  }

  @Test("Invalid UTF-8 is not parsed as a text")
  func bytesThatAreNoUnicodeAreNoText() {
    let text = ([0x22, 0xFF, 0x22] as [UInt8]).withUnsafeBytes { JSONScanner.text($0) }
    #expect(text == nil)
  }
}
