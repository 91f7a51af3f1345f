import ArborData
import ArborJSON
import ArborModel
import Foundation
import Testing

/// The estimated size of an index that a query would use if it existed.
@Suite struct IndexSizeTests {
  private static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Reading") {
        AttributeDescription("code", .string)
        AttributeDescription("codeIndexed", .string, .indexed)
        AttributeDescription("kind", .integer16)
        AttributeDescription("kindIndexed", .integer16, .indexed)
      }
    }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<4000 {
      let reading = try context.insert("Reading")
      for name in ["code", "codeIndexed"] {
        reading[name] = PropertyValue.string("reading-\(number &* 7919 % 4001)")
      }
      for name in ["kind", "kindIndexed"] {
        reading[name] = PropertyValue.integer(Int64(number % 9))
      }
    }
  }

  /// The estimate differs from the size of an index of the same values by less than a factor of 2.
  @Test("The estimated size of an index is accurate within a factor of 2")
  func estimatesAreNearTheFact() throws {
    try ServedStore.use(Self.makeModel(), fill: Self.fill) { served in
      let indexes = try served.store.indexes()
      for (name, value) in [("code", "'reading-5'"), ("kind", "3")] {
        let answer = try served.client.get(
          "/api/query", ["entity": "Reading", "where": "\(name) == \(value)"])
        let plan = try #require(answer.json["plan"])
        #expect(plan["suggestedIndex"] == .string("Reading (\(name))"))
        let size = try #require(plan["indexSize"])
        #expect(size["entries"] == 4000 && size["sample"] == 1000)
        let fact = try #require(indexes.first { $0.columns == [.init("\(name)Indexed")] }).bytes
        let estimate = Int(try #require(size["bytes"]?.int64))
        #expect(estimate < fact * 2 && fact < estimate * 2, "\(name): \(estimate), \(fact)")
      }
    }
  }
}
