import ArborModel
import ArborObjects
import Foundation
import Testing

private enum Level: Int16, AttributeValue {
  case low = 1
  case high = 2
}

/// A class with an attribute of every type.
private final class Everything: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Everything",
    attributes: [
      AttributeDescription(name: "short", type: .integer16, isOptional: true),
      AttributeDescription(name: "medium", type: .integer32, isOptional: true),
      AttributeDescription(name: "long", type: .integer64, isOptional: true),
      AttributeDescription(name: "flag", type: .boolean, isOptional: true),
      AttributeDescription(name: "single", type: .float, isOptional: true),
      AttributeDescription(name: "double", type: .double, isOptional: true),
      AttributeDescription(name: "decimal", type: .decimal, isOptional: true),
      AttributeDescription(name: "text", type: .string, isOptional: true),
      AttributeDescription(name: "date", type: .date, isOptional: true),
      AttributeDescription(name: "data", type: .binary, isOptional: true),
      AttributeDescription(name: "uuid", type: .uuid, isOptional: true),
      AttributeDescription(name: "url", type: .uri, isOptional: true),
      AttributeDescription(name: "level", type: .integer16, defaultValue: 1),
    ])
}

@Suite struct AttributeValueTests {
  private func use(_ body: (Everything, ManagedObjectContext) throws -> Void) throws {
    try ObjectStore.use(ManagedObjectModel(for: [Everything.self])) { store in
      let context = store.makeContext()
      try body(context.insert(Everything.self), context)
      try context.commit()
    }
  }

  /// Sets and reads values, and reads them again after a commit, as a Swift type and as a value.
  private func roundTrip<T: AttributeValue & Equatable>(
    _ slot: Int, _ values: [T], sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    try use { object, context in
      let key = Everything.entityDescription.attributes[slot].name
      #expect(object._attribute(slot) as T? == nil, sourceLocation: sourceLocation)
      for value in values {
        object._setAttribute(slot, value)
        #expect(object._attribute(slot) as T == value, sourceLocation: sourceLocation)
        #expect(object._attribute(slot) as T? == value, sourceLocation: sourceLocation)
        #expect(T.fromValue(object[key]) == value, sourceLocation: sourceLocation)
        object[key] = value
        try context.commit()
        context.refresh(object)
        #expect(object.isFault, sourceLocation: sourceLocation)
        #expect(object._attribute(slot) as T == value, sourceLocation: sourceLocation)
      }
      object._setAttribute(slot, nil as T?)
      #expect(object._attribute(slot) as T? == nil, sourceLocation: sourceLocation)
      #expect(object[key].isNull, sourceLocation: sourceLocation)
    }
  }

  @Test("Integers survive a round trip through attributes")
  func wholeNumbers() throws {
    try roundTrip(0, [Int16.min, 0, .max])
    try roundTrip(1, [Int32.min, 0, .max])
    try roundTrip(2, [Int64.min, 0, .max])
    try roundTrip(2, [Int.min, 0, .max])
    try roundTrip(0, [-5, 5] as [Int])
    try roundTrip(1, [-70000, 70000] as [Int64])
  }

  @Test("Other numbers and Booleans survive a round trip through attributes")
  func otherNumbers() throws {
    try roundTrip(3, [true, false])
    try roundTrip(4, [-1.5, 0, .greatestFiniteMagnitude] as [Float])
    try roundTrip(4, [0.5] as [Double])
    try roundTrip(5, [-1.5, 0, .leastNonzeroMagnitude] as [Double])
    try roundTrip(
      6, ["-12345678901234567890.123", "0", "1e-20"].compactMap { Decimal(string: $0) })
  }

  @Test("Strings, dates, data, UUIDs and URLs survive a round trip through attributes")
  func textsAndOthers() throws {
    try roundTrip(7, ["", "a", "Größe", String(repeating: "🌲", count: 5000), "short again"])
    try roundTrip(
      8, [Date(timeIntervalSinceReferenceDate: -0.25), Date(timeIntervalSince1970: 1e9)])
    try roundTrip(9, [Data(), Data([0, 255]), Data(repeating: 7, count: 100_000)])
    try roundTrip(10, [UUID(), UUID()])
    try roundTrip(11, ["https://example.com/ä?b#c", "file:///a"].compactMap { URL(string: $0) })
  }

  @Test("A missing value reads as zero or empty")
  func missingValuesReadAsZero() throws {
    try use { object, _ in
      #expect(object._attribute(2) as Int == 0)
      #expect(object._attribute(3) as Bool == false)
      #expect(object._attribute(5) as Double == 0)
      #expect(object._attribute(6) as Decimal == 0)
      #expect(object._attribute(7) as String == "")
      #expect(object._attribute(8) as Date == Date(timeIntervalSinceReferenceDate: 0))
      #expect(object._attribute(9) as Data == Data())
    }
  }

  @Test("Enumerations are stored as raw values")
  func rawValuesAreCases() throws {
    try use { object, _ in
      #expect(object._attribute(12) as Level == .low)
      object._setAttribute(12, Level.high)
      #expect(object["level"] == 2 && Level.fromValue(2) == .high && Level.fromValue(9) == nil)
      #expect(object._attribute(12) as Level? == .high)
    }
  }

  @Test("A number that doesn't fit its attribute stops the process")
  func numbersThatDoNotFitStop() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: [Everything.self], at: .inMemory)
      store.makeContext().insert(Everything.self)._setAttribute(0, 70000)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("The number doesn't fit the attribute Everything."))
    #expect(text.contains("which takes an integer from -32768 to 32767. Check the number before"))
  }
}
