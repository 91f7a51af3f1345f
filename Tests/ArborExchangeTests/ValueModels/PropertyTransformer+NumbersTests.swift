import ArborJSON
import ArborExchange
import ArborModel
import Foundation
import Testing

@Suite struct PropertyTransformerNumbersTests {
  struct City: ValueModel, Equatable {
    var population: Int?
    var area: Decimal?
    var height: Double?
    var slope: Float?
    static let german = JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".")
    static let jsonTransformers: [String: JSONTransformer] = [
      "population": .number(Int.self, format: german),
      "area": .number(Decimal.self, format: german),
      "height": .number(Double.self, format: german), "slope": .number(Float.self, format: german),
    ]
  }

  @Test("Formatted numbers survive a round trip")
  func numbersGoThereAndBack() throws {
    let json: JSONValue = [
      "population": "3.677.472", "area": "891,12", "height": "0,1", "slope": "-1.000,25",
    ]
    let city = try ValueAdapter.decode(City.self, from: .value(json))
    #expect(city == City(population: 3_677_472, area: 891.12, height: 0.1, slope: -1_000.25))
    #expect(try ValueAdapter.encode(city) == json)
    let plain: JSONValue = ["population": 5, "area": 1.5, "height": nil]
    #expect(
      try ValueAdapter.decode(City.self, from: .value(plain)) == City(population: 5, area: 1.5))
  }

  @Test(
    "A text that is not a number in the format is rejected",
    arguments: [
      ("population", "1,5"), ("population", "many"), ("area", "1.2"), ("height", "NaN"),
      ("population", "99.999.999.999.999.999.999"),
    ])
  func aTextThatSpellsNoneIsUnparsable(key: String, text: String) throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(City.self, from: .value(.object([key: .string(text)])))
    }
    #expect(error.code == .unparsableValue && error.keyPath == key)
    #expect(error.location?.path == "$.\(key)")
    let wrong = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(City.self, from: .value(.object([key: true])))
    }
    #expect(wrong.code == .typeMismatch)
  }

  @Test("A number transformer reads and writes attributes")
  func attributesAreReadAndWrittenToo() throws {
    let transformer = ManagedTransformer.number(
      Int.self, format: JSONNumberFormat(groupingSeparator: ","))
    #expect(try transformer.read(.string("1,234")) as Int == 1_234)
    #expect(try transformer.read(.integer(7)) as Int == 7)
    #expect(try transformer.read(.double(7)) as Int == 7)
    #expect(try transformer.write(1_234) == .string("1,234"))
  }
}
