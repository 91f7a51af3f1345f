import ArborModel
import Foundation
import Testing

@Suite struct ValueReadingTests {
  private static let id = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
  private static let url = URL(string: "https://example.org")!

  @Test func numbersAreWhatTheyAreWorth() {
    #expect(Value.integer(41).int == 41 && Value.integer(41).int64 == 41)
    #expect(Value.double(3).int == 3 && Value.double(3.5).int == nil)
    #expect(Value.decimal(Decimal(string: "12.0")!).int == 12)
    #expect(Value.decimal(Decimal(string: "0.5")!).int == nil)
    #expect(Value.decimal(Decimal(string: "1e30")!).int64 == nil && Value.double(1e300).int == nil)
    #expect(Value.integer(2).double == 2 && Value.decimal(Decimal(string: "0.1")!).double == 0.1)
    #expect(Value.double(9.99).decimal == Decimal(string: "9.99") && Value.integer(2).decimal == 2)
    #expect(Value.double(.infinity).decimal == nil && Value.double(.nan).int == nil)
  }

  @Test func otherKindsAreReadAsThemselves() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let object = try ObjectID("arbor://\(Self.id.uuidString)/Tag/7")
    #expect(Value.boolean(true).bool == true && Value.string("a").string == "a")
    #expect(Value.date(date).date == date && Value.binary(Data([1])).data == Data([1]))
    #expect(Value.uuid(Self.id).uuid == Self.id && Value.uri(Self.url).url == Self.url)
    #expect(Value.objectID(object).objectID == object)
    #expect(Value.list([1, nil]).list == [1, nil])
    #expect(Value.composite(["a": 1]).composite == ["a": 1])
  }

  @Test(arguments: [
    Value.null, .boolean(true), .integer(1), .double(0.5), .decimal(1), .string("1"),
    .date(Date()), .binary(Data()), .uuid(id), .uri(url), .list([]), .composite([:]),
  ])
  func aKindIsNoOther(value: Value) {
    var kinds: [Bool] = [value.bool != nil]
    kinds.append((value.double ?? value.decimal.map { _ in 0 }) != nil)
    kinds += [value.string != nil, value.date != nil, value.data != nil, value.uuid != nil]
    kinds += [value.url != nil, value.objectID != nil, value.list != nil, value.composite != nil]
    #expect(kinds.count { $0 } == (value.isNull ? 0 : 1), "\(value)")
    #expect((value.int != nil) == [.integer(1), .decimal(1)].contains(value))
  }
}
