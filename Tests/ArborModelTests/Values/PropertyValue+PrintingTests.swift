import ArborModel
import Foundation
import Testing

@Suite struct ValuePrintingTests {
  @Test(
    "Values have a description and a debug description",
    arguments: [
      (PropertyValue.null, "nil", ".null"),
      (.boolean(true), "true", ".boolean(true)"),
      (.integer(-41), "-41", ".integer(-41)"),
      (.double(1.5), "1.5", ".double(1.5)"),
      (.double(3), "3.0", ".double(3.0)"),
      (.decimal(Decimal(string: "9.99")!), "9.99", ".decimal(9.99)"),
      (.string("Ada \"L\""), "Ada \"L\"", ".string(\"Ada \\\"L\\\"\")"),
      (
        .date(Date(timeIntervalSinceReferenceDate: 0)), "2001-01-01T00:00:00Z",
        ".date(2001-01-01T00:00:00Z)"
      ),
      (
        .date(Date(timeIntervalSinceReferenceDate: 0.5)), "2001-01-01T00:00:00.500Z",
        ".date(2001-01-01T00:00:00.500Z)"
      ),
      (
        .date(Date(timeIntervalSinceReferenceDate: 1e300)), "1e+300 s since 2001",
        ".date(1e+300 s since 2001)"
      ),
      (.binary(Data([1, 2])), "2 bytes", ".binary(2 bytes)"),
      (.binary(Data([1])), "1 byte", ".binary(1 byte)"),
      (
        .uuid(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!),
        "01234567-89AB-CDEF-0123-456789ABCDEF", ".uuid(01234567-89AB-CDEF-0123-456789ABCDEF)"
      ),
      (.uri(URL(string: "https://a.b/c")!), "https://a.b/c", ".uri(https://a.b/c)"),
      (.list([1, nil, "a"]), "[1, nil, a]", ".list([.integer(1), .null, .string(\"a\")])"),
      (
        .composite(["zip": 8001, "city": "Bonn"]), "[city: Bonn, zip: 8001]",
        ".composite([city: .string(\"Bonn\"), zip: .integer(8001)])"
      ),
      (.composite([:]), "[:]", ".composite([:])"),
    ])
  func printsForPeopleAndForDebugging(value: PropertyValue, text: String, debugText: String) {
    #expect("\(value)" == text)
    #expect(String(reflecting: value) == debugText)
  }
}
