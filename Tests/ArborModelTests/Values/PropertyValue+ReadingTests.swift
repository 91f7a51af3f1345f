import ArborModel
import Foundation
import Testing

@Suite struct ValueReadingTests {
  private static let id = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
  private static let url = URL(string: "https://example.org")!

  @Test("Numbers are converted if their value fits")
  func numbersAreWhatTheyAreWorth() {
    #expect(PropertyValue.integer(41).int == 41 && PropertyValue.integer(41).int64 == 41)
    #expect(PropertyValue.double(3).int == 3 && PropertyValue.double(3.5).int == nil)
    #expect(PropertyValue.decimal(Decimal(string: "12.0")!).int == 12)
    #expect(PropertyValue.decimal(Decimal(string: "0.5")!).int == nil)
    #expect(
      PropertyValue.decimal(Decimal(string: "1e30")!).int64 == nil
        && PropertyValue.double(1e300).int == nil)
    #expect(
      PropertyValue.integer(2).double == 2
        && PropertyValue.decimal(Decimal(string: "0.1")!).double == 0.1)
    #expect(
      PropertyValue.double(9.99).decimal == Decimal(string: "9.99")
        && PropertyValue.integer(2).decimal == 2)
    #expect(PropertyValue.double(.infinity).decimal == nil && PropertyValue.double(.nan).int == nil)
  }

  @Test("Values of other types are read as their own type")
  func otherKindsAreReadAsThemselves() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let object = try ObjectID("arbor://\(Self.id.uuidString)/Tag/7")
    #expect(PropertyValue.boolean(true).bool == true && PropertyValue.string("a").string == "a")
    #expect(
      PropertyValue.date(date).date == date && PropertyValue.binary(Data([1])).data == Data([1]))
    #expect(
      PropertyValue.uuid(Self.id).uuid == Self.id && PropertyValue.uri(Self.url).url == Self.url)
    #expect(PropertyValue.objectID(object).objectID == object)
    #expect(PropertyValue.list([1, nil]).list == [1, nil])
    #expect(PropertyValue.composite(["a": 1]).composite == ["a": 1])
  }

  @Test(
    "A value can be read as its own type only",
    arguments: [
      PropertyValue.null, .boolean(true), .integer(1), .double(0.5), .decimal(1), .string("1"),
      .date(Date()), .binary(Data()), .uuid(id), .uri(url), .list([]), .composite([:]),
    ])
  func aKindIsNoOther(value: PropertyValue) {
    var kinds: [Bool] = [value.bool != nil]
    kinds.append((value.double ?? value.decimal.map { _ in 0 }) != nil)
    kinds += [value.string != nil, value.date != nil, value.data != nil, value.uuid != nil]
    kinds += [value.url != nil, value.objectID != nil, value.list != nil, value.composite != nil]
    #expect(kinds.count { $0 } == (value.isNull ? 0 : 1), "\(value)")
    #expect((value.int != nil) == [.integer(1), .decimal(1)].contains(value))
  }
}
