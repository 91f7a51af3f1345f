import ArborModel
import Foundation
import Testing

@Suite struct DistinctValueTests {
  @Test("Keys are equal if and only if the values are")
  func keysAreEqualWhereValuesAre() {
    let values: [PropertyValue] = [
      .null, 0, 1, -1, .double(1), .double(0.1), .decimal(0.1),
      .decimal(Decimal(string: "1E+30") ?? 0),
      .double(1e30), "", "a", "e\u{301}", "\u{e9}", .list([]), .list([1, 2]),
      .list([.double(1), 2]),
      .list(["a", "b"]), .list(["ab"]), .composite(["a": 1]), .composite(["a": .double(1)]),
      .composite(["b": 1]), .binary(Data([1])), .binary(Data()),
      .date(Date(timeIntervalSince1970: 0)),
      .uuid(UUID()), .uuid(UUID()), .boolean(false), .integer(.max), .integer(.min), .double(.nan),
      .double(.infinity), .double(-.infinity), .double(0), .double(-0.0), .decimal(.nan),
      .date(Date(timeIntervalSinceReferenceDate: 0)),
      .date(Date(timeIntervalSinceReferenceDate: -0.0)),
    ]
    for left in values {
      for right in values {
        let isSame = PropertyValue.compare(left, right) == .equal
        let (one, other) = (DistinctValue(left), DistinctValue(right))
        #expect((one == other) == isSame, "\(left) and \(right)")
        #expect((Set([one, other]).count == 1) == isSame, "\(left) and \(right)")
        #expect(!isSame || one.hashValue == other.hashValue, "\(left) and \(right)")
      }
    }
  }
}
