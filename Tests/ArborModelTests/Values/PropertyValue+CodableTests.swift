import ArborModel
import Foundation
import Testing

@Suite struct ValueCodableTests {
  @Test("Values of every type survive a round trip through JSON")
  func everyKindComesBack() throws {
    let id = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
    let values: [PropertyValue] = [
      .null, .boolean(false), .integer(.min), .double(0.1), .decimal(Decimal(string: "9.99")!),
      .string("é"), .date(Date(timeIntervalSinceReferenceDate: 0.25)), .binary(Data([0, 255])),
      .uuid(id), .uri(URL(string: "https://a.b")!),
      .objectID(try ObjectID("arbor://\(id.uuidString)/Tag/7")), .list([1, [nil]]),
      .composite(["a": ["b"]]),
    ]
    for value in values {
      let data = try JSONEncoder().encode(value)
      #expect(try JSONDecoder().decode(PropertyValue.self, from: data) == value)
    }
    #expect(
      try JSONEncoder().encode(PropertyValue.string("Ada")) == Data(#"{"string":"Ada"}"#.utf8))
  }

  @Test(
    "Other JSON is rejected",
    arguments: ["{}", #"{"text": "a"}"#, #"{"string": "a", "integer": 1}"#, "3"])
  func anythingElseIsAnError(json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PropertyValue.self, from: Data(json.utf8))
    }
  }
}
