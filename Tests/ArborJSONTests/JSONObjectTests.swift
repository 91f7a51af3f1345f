import ArborJSON
import Testing

@Suite struct JSONObjectTests {
  @Test("An object behaves like an ordered dictionary", arguments: [0, 1, 11, 12, 13, 100])
  func behavesAsAnOrderedDictionary(count: Int) {
    var object = JSONObject()
    for number in 0..<count { object["k\(number)"] = .number(JSONNumber(Int64(number))) }
    #expect(object.keys == (0..<count).map { "k\($0)" })
    #expect(object.values.map(\.int64) == (0..<count).map { Int64($0) })
    for number in 0..<count { #expect(object["k\(number)"]?.int64 == Int64(number)) }
    #expect(object["missing"] == nil)
    guard count > 2 else { return }
    object["k1"] = nil
    object["k2"] = "replaced"
    object["k1"] = "again"
    #expect(object.keys == ["k0", "k2"] + (3..<count).map { "k\($0)" } + ["k1"])
    #expect(object["k2"] == "replaced")
    #expect(object["k1"] == "again")
  }

  @Test("Objects are equal whatever the order of their members")
  func equalsWhateverTheOrder() {
    let one: JSONObject = ["a": 1, "b": [2], "c": nil]
    let other: JSONObject = ["c": nil, "a": 1.0, "b": [2]]
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": 1, "b": [2]])
    #expect(one != ["a": 1, "b": [2], "d": nil])
    #expect(one != ["a": 2, "b": [2], "c": nil])
  }
}
