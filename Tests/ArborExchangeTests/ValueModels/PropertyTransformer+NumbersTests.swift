import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
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

  @Test("A text that isn't a number is told apart from a number that doesn't fit")
  func messages() throws {
    func failure(_ json: JSONValue) throws -> String? {
      let error = #expect(throws: ArborError.self) {
        try ValueAdapter.decode(City.self, from: .value(json))
      }
      return error?.message
    }
    #expect(
      try failure(["area": "gratis"])
        == #"The transformer expected a number such as "1.234,5". Correct the value."#)
    #expect(
      try failure(["area": true])
        == "The transformer expected a number or a string. Correct the value.")
    #expect(try failure(["area": "1e200"])?.contains("at most 38 digits") == true)
  }

  private struct Reading: ValueModel {
    var value: JSONValue
  }

  @Test("A value of the library that cannot be encoded is not blamed on the model")
  func unencodableValues() throws {
    let context = try PersistentStore(
      model: ManagedObjectModel(entities: [
        EntityDescription(
          name: "Reading",
          attributes: [AttributeDescription(name: "value", type: .binary, isOptional: true)])
      ]), at: .inMemory
    ).makeContext()
    let number = try JSONValue.parse(String(repeating: "1234567890", count: 5) + ".5")
    let error = #expect(throws: ArborError.self) { try context.upsert(Reading(value: number)) }
    #expect(
      error?.message == """
        A value cannot be encoded: the number has more than 38 digits or is out of range. Round \
        it, or store it as a string. Correct the value.
        """)
    #expect(!context.hasChanges)
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
