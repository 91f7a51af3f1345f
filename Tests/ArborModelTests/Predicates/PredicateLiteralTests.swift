import ArborModel
import Foundation
import Testing

@Suite struct PredicateLiteralTests {
  private func constant(_ text: String) throws -> PropertyValue {
    let predicate = FetchPredicate(stringLiteral: "SELF == " + text)
    guard case .comparison(let comparison) = try predicate.parsed.outcome.get(),
      case .constant(let value) = comparison.right
    else { throw ArborError(.invalidPredicate, "no constant") }
    return value
  }

  static let values: [PropertyValue] = [
    .null, true, false, 0, .integer(.min), .integer(.max), -1.5, 1e300, .double(-0.0),
    .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude), .decimal(0),
    .decimal(Decimal(string: "-12.50") ?? 0), .decimal(Decimal(string: "1e127") ?? 0),
    .decimal(.greatestFiniteMagnitude), "", "a\"b\\c\u{0}\u{7F}\u{2028}é😀",
    .date(Date(timeIntervalSinceReferenceDate: 700_000_000.123)), .date(.distantPast),
    .date(Date(timeIntervalSinceReferenceDate: .infinity)),
    .binary(Data()), .binary(Data([0, 255])), .uuid(PredicateWorld.storeID),
    .uri(URL(fileURLWithPath: "/a b/c")),
    .objectID(ObjectID(storeID: PredicateWorld.storeID, entityName: "É", number: 1)),
    .list([]), .list([.null, [1, "x"]]), .composite(["a": 1, "b": .list([.null])]),
  ]

  @Test("Every constant can be printed and parsed", arguments: values)
  func everyConstantPrintsAndParses(_ value: PropertyValue) throws {
    let text = FetchPredicate("SELF == \(value)").description
    let parsed = try constant(String(text.dropFirst("SELF == ".count)))
    #expect(parsed == value, "\(text)")
    if case .double(let number) = value, case .double(let again) = parsed {
      #expect(number.bitPattern == again.bitPattern)
    }
  }

  @Test(
    "Casts and data literals are read",
    arguments: [
      (#"CAST(5, "NSDate")"#, PropertyValue.date(Date(timeIntervalSinceReferenceDate: 5))),
      (#"CAST("12.5", "NSDecimalNumber")"#, .decimal(Decimal(string: "12.5") ?? 0)),
      (#"CAST(12.5, "NSDecimalNumber")"#, .decimal(Decimal(string: "12.5") ?? 0)),
      (#"CAST("17", "NSNumber")"#, 17), (#"cast("1.5", "NSNumber")"#, 1.5),
      (#"data("00fF")"#, .binary(Data([0, 255]))),
    ])
  func readsCalls(_ text: String, _ value: PropertyValue) throws {
    #expect(try constant(text) == value)
  }

  @Test(
    "A constant that cannot be converted remains a cast, which binding rejects",
    arguments: [
      #"CAST("12x", "NSDecimalNumber")"#, #"CAST("x", "NSNumber")"#, #"CAST("5", "NSDate")"#,
    ])
  func badCastsPrintAndParse(_ text: String) throws {
    #expect(FetchPredicate(stringLiteral: "SELF == " + text).description == "SELF == " + text)
  }

  @Test(
    "Invalid literals are rejected",
    arguments: [
      #"uuid("x")"#, #"data("0")"#, #"data("zz")"#, #"objectID("arbor://x")"#, #"value("ff")"#,
      "uuid(5)", "uuid()", "CAST(5)", "CAST 5", #"CAST(5, NSDate)"#,
    ])
  func refusesOthers(_ text: String) {
    let error = #expect(throws: ArborError.self) { try constant(text) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location != nil)
  }
}
