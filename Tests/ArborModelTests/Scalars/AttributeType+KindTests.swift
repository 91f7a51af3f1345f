import ArborModel
import Foundation
import Testing

@Suite struct AttributeTypeKindTests {
  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .string, .date,
    .binary, .uuid, .uri, .transformable("T"), .composite("C"), .json, .undefined,
  ]
  static let values: [PropertyValue] = [
    .null, .boolean(true), .integer(7), .integer(40_000), .integer(.max), .double(0.5),
    .double(.nan), .double(.infinity), .double(1e300), .decimal(9), .string("a b"),
    .string("6BA7B810-9DAD-11D1-80B4-00C04FD430C8"), .date(Date(timeIntervalSince1970: 0)),
    .binary(Data([1])), .uuid(UUID()), .uri(URL(filePath: "/a")), .list([1]),
    .composite(["a": 1]),
  ]

  @Test("A value converted to a type fits that type unchanged", arguments: types)
  func whatFitsStaysAsItIs(type: AttributeType) {
    for value in Self.values {
      guard let fitting = type.fitting(value) else { continue }
      #expect(type.fitting(fitting) == fitting)
    }
    #expect(type.fitting(.null) == .null)
    #expect((type.fitting(.list([1])) == nil) == (type != .json))
    #expect(type.fitting(.double(.nan)) == nil)
  }

  @Test("Literals are converted to the attribute's type")
  func takesLiteralsAsTheyAreMeant() {
    #expect(AttributeType.double.fitting(3) == .double(3))
    #expect(AttributeType.decimal.fitting(9.99) == .decimal(Decimal(string: "9.99") ?? 0))
    #expect(AttributeType.float.fitting(0.1) == .double(Double(Float(0.1))))
    #expect(AttributeType.uuid.fitting("nonsense") == nil)
    let id = UUID()
    #expect(AttributeType.uuid.fitting(.string(id.uuidString)) == .uuid(id))
  }

  @Test("Values that don't fit a type are rejected")
  func refusesWhatDoesNotFit() {
    #expect(AttributeType.integer16.fitting(40_000) == nil)
    #expect(AttributeType.integer16.fitting(-32_768) == -32_768)
    #expect(AttributeType.integer64.fitting(1.0) == nil)
    #expect(AttributeType.float.fitting(1e300) == nil)
    #expect(AttributeType.boolean.fitting(1) == nil)
    #expect(AttributeType.string.fitting(1) == nil)
  }

  @Test("Every attribute type has its own kind")
  func everyTypeHasItsKind() {
    #expect(AttributeType.kinds.count == Self.types.count)
    for type in Self.types {
      let kind = type.kind
      let isItsOwn = kind.type.kind == kind
      let listed = AttributeType.kinds.count { $0 == kind }
      #expect(isItsOwn)
      #expect(listed == 1)
    }
    for names in [
      AttributeType.kinds.map { $0.jsonName },
      AttributeType.kinds.map { String($0.fingerprintCode) },
    ] {
      #expect(Set(names).count == Self.types.count)
    }
    // In XML, JSON attributes are binary ones with a mark.
    #expect(Set(AttributeType.kinds.map { $0.xmlName }).count == Self.types.count - 1)
  }

  @Test("A type stores every value that fits it unchanged", arguments: types)
  func keepsWhatItTakesAsItIs(type: AttributeType) {
    let unchanged = Self.values.filter { !$0.isNull && type.fitting($0) == $0 }
    #expect(!unchanged.isEmpty)
    for value in unchanged {
      let isKept = type.kind.keeps(value)
      #expect(isKept, "\(value)")
    }
  }
}
