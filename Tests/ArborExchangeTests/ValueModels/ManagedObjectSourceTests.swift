import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectSourceTests {
  static let registration: Void = AttributeTransformers.register(
    CodableTransformer<[String: Double]>(), named: "Table")

  init() { Self.registration }

  /// Returns the stored attribute values of a sample.
  static func values() throws -> [String: PropertyValue] {
    [
      "flag": true, "tiny": -128, "short": .integer(-32768), "middle": 2_147_483_647,
      "long": .integer(.max), "whole": .integer(.min), "unsignedTiny": 255,
      "unsignedShort": 65535, "unsignedMiddle": 4_294_967_295,
      "unsignedLong": .decimal(Decimal(UInt64.max)), "unsigned": .integer(.max), "single": 0.5,
      "double": 1e300, "decimal": .decimal(1.5), "text": "ü",
      "date": .date(Date(timeIntervalSince1970: 1)), "data": .binary(Data([1, 2])),
      "url": .uri(try #require(URL(string: "https://a.b/c"))), "uuid": .uuid(UUID()),
      "level": "high", "rank": 2, "size": .composite(["width": 3, "height": 4]),
      "list": [1, 2], "set": ["a"],
    ]
  }

  @Test("Attributes of all types are read")
  func attributesOfAllTypesAreRead() throws {
    let workshop = try ModelWorkshop()
    let values = try Self.values()
    let object = try workshop.insert("Sample", values)
    try object.setTransformedValue(["x": 1.5], forKey: "table")
    let sample = try Sample(object)
    #expect(sample.flag == true && sample.tiny == .min && sample.short == .min)
    #expect(sample.middle == .max && sample.long == .max && sample.whole == .min)
    #expect(sample.unsignedTiny == .max && sample.unsignedShort == .max)
    #expect(sample.unsignedMiddle == .max && sample.unsigned == UInt(Int64.max))
    #expect(sample.unsignedLong == .max)
    #expect(sample.single == 0.5 && sample.double == 1e300 && sample.decimal == 1.5)
    #expect(sample.text == "ü" && sample.data == Data([1, 2]))
    #expect(sample.date == Date(timeIntervalSince1970: 1))
    #expect(sample.url == URL(string: "https://a.b/c"))
    #expect(sample.uuid.map(PropertyValue.uuid) == values["uuid"])
    #expect(sample.level == .high && sample.rank == .second)
    #expect(sample.size == Sample.Size(width: 3, height: 4))
    #expect(sample.list == [1, 2] && sample.set == ["a"] && sample.table == ["x": 1.5])
    #expect(try Sample(try workshop.insert("Sample")) == Sample())
    try workshop.finish()
  }
}
