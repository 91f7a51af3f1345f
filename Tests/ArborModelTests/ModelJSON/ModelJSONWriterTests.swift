import ModelSamples
import ArborJSON
import ArborModel
import Foundation
import TestLength
import Testing

@Suite struct ModelJSONWriterTests {
  @Test("A model survives a round trip through JSON")
  func comesBackEqualFromItsJSON() throws {
    for model in [try ModelSamples.corporate(), try ModelSamples.sound()] {
      for style in [JSONStyle.pretty, .compact] {
        let data = model.jsonData(style)
        let back = try ManagedObjectModel(json: data)
        #expect(back == model)
        #expect(back.jsonData(style) == data)
      }
    }
  }

  @Test(
    "Default values survive a round trip through JSON exactly",
    arguments: [
      (AttributeType.double, PropertyValue.double(.infinity)), (.double, .double(-0.0)),
      (.double, .double(1e300)), (.float, .double(Double(Float(0.1)))),
      (.integer64, .integer(.min)), (.decimal, .decimal(Decimal(string: "-12345.678901") ?? 0)),
      (.string, .string("\"\\\n\u{1F600}\u{0}")), (.binary, .binary(Data([0, 255, 7]))),
      (.date, .date(Date(timeIntervalSinceReferenceDate: -1e9 + 0.125))),
      (.date, .date(Date(timeIntervalSinceReferenceDate: 700_000_000))),
      (.uuid, .uuid(UUID())), (.boolean, .boolean(false)), (.undefined, .integer(1)),
      (.undefined, .double(1)), (.undefined, .string("1")), (.undefined, .boolean(true)),
      (.transformable("T"), .binary(Data())),
    ])
  func keepsDefaultsExactly(type: AttributeType, value: PropertyValue) throws {
    let model = try ManagedObjectModel {
      EntityDescription("E") { AttributeDescription("a", type, .transient, .default(value)) }
    }
    #expect(try ManagedObjectModel(json: model.jsonData()) == model)
  }

  @Test(
    "A random model survives a round trip through JSON",
    arguments: 0..<TestLength.of(40, long: 2000) as Range<UInt64>)
  func aRandomModelComesBackEqual(seed: UInt64) throws {
    var random = RandomModel(seed: seed)
    let model = try random.model().validated()
    #expect(try ManagedObjectModel(json: model.jsonData(.compact)) == model)
  }
}
