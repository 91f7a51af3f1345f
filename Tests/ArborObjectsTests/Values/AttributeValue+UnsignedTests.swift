import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

private enum Level: UInt8, Codable { case low = 1, high = 200 }
private enum Sign: Int8, AttributeValue { case minus = -1, plus = 1 }

private final class Gauge: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Gauge", className: "Gauge",
      attributes: [
        AttributeDescription("tiny", Int8.self, default: -5),
        AttributeDescription("byte", UInt8.self, default: 0),
        AttributeDescription("port", UInt16.self, default: 0),
        AttributeDescription("address", UInt32.self, default: 0),
        AttributeDescription("bytes", UInt64.self, default: 0),
        AttributeDescription("count", UInt?.self),
        AttributeDescription("ratio", CGFloat.self, default: 0),
        AttributeDescription("wait", Duration.self, default: .zero),
        AttributeDescription("level", Level.self, default: .low),
        AttributeDescription("sign", Sign?.self),
        AttributeDescription("small", UInt8.self, default: 1, .bounds(1...9)),
      ])
  }
  override class var propertyNames: [AnyKeyPath: String] { [\Gauge.bytes: "bytes"] }

  var tiny: Int8 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var byte: UInt8 {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var port: UInt16 {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var address: UInt32 {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var bytes: UInt64 {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var count: UInt? {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var ratio: CGFloat {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var wait: Duration {
    get { _attribute(7) }
    set { _setAttribute(7, newValue) }
  }
  var level: Level {
    get { _attribute(8) }
    set { _setAttribute(8, newValue) }
  }
  var sign: Sign? {
    get { _attribute(9) }
    set { _setAttribute(9, newValue) }
  }
}

@Suite struct AttributeValueUnsignedTests {
  @Test("Numeric types are stored as numbers with the bounds of their type")
  func numbersAreAttributesOfNumbersWithTheRangeOfTheirType() {
    let attributes = Gauge.entityDescription.attributes
    #expect(
      attributes.map(\.type) == [
        .integer16, .integer16, .integer32, .integer64, .integer64, .integer64, .double, .decimal,
        .integer16, .integer16, .integer16,
      ])
    #expect(
      attributes.map(\.minimum) == [-128, 0, 0, 0, 0, 0, .null, .null, .null, .null, 1])
    #expect(
      attributes.map(\.maximum)
        == [127, 255, 65_535, 4_294_967_295, .null, .null, .null, .null, .null, .null, 9])
    #expect(attributes[0].defaultValue == -5 && attributes[8].defaultValue == 1)
  }

  @Test("Unsigned numbers and durations are stored, sorted and found")
  func valuesComeBackSortAndAreFound() throws {
    try ObjectStore.use(ManagedObjectModel(for: [Gauge.self]), classes: [Gauge.self]) { store in
      let context = store.makeContext()
      for number in [300, 5, 70] {
        let gauge = context.insert(Gauge.self)
        gauge.bytes = UInt64(number)
        gauge.count = number == 5 ? nil : UInt(number)
        gauge.level = number == 5 ? .high : .low
        gauge.sign = number == 70 ? .minus : .plus
        gauge.ratio = CGFloat(number) / 2
        gauge.wait = .milliseconds(number) + .nanoseconds(1)
        gauge.byte = number == 300 ? 255 : UInt8(number)
        gauge.port = number == 300 ? .max : UInt16(number)
        gauge.address = number == 300 ? .max : UInt32(number)
      }
      try context.commit()
      let other = store.makeContext()
      let gauges = other.objects(Gauge.self)
      #expect(try gauges.order(by: "bytes").fetch().map(\.bytes) == [5, 70, 300])
      #expect(
        try other.fetch(FetchRequest<Gauge>(sortKeys: [SortKey(\Gauge.bytes)])).map(\.bytes)
          == [5, 70, 300])
      #expect(try gauges.order(by: "ratio").fetch().map(\.ratio) == [2.5, 35, 150])
      #expect(
        try gauges.order(by: "-wait").fetch().map(\.wait)
          == [300, 70, 5].map { .milliseconds($0) + .nanoseconds(1) })
      #expect(try gauges.order(by: "count").fetch().map(\.count) == [nil, 70, 300])
      #expect(try gauges.order(by: "-address").fetch().first?.address == .max)
      #expect(try gauges.order(by: "-port").fetch().first?.port == .max)
      #expect(try gauges.order(by: "-byte").fetch().first?.byte == 255)
      let (high, number) = (Level.high, UInt64(300))
      let wait = Duration.milliseconds(70) + .nanoseconds(1)
      #expect(try gauges.filter(#Predicate { $0.bytes == 300 }).count() == 1)
      #expect(try gauges.filter(#Predicate { $0.bytes > number }).count() == 0)
      #expect(try gauges.filter(#Predicate { $0.level == high }).count() == 1)
      #expect(try gauges.filter(#Predicate { $0.wait <= wait }).count() == 2)
      #expect(try gauges.filter(#Predicate { $0.ratio > 2.5 }).count() == 2)
      for (predicate, count) in [
        ("bytes == \(300)", 1), ("bytes == 300", 1), ("level == 200", 1), ("wait < 0.1", 2),
        ("sign == -1", 1), ("byte == 255 AND tiny == -5", 1), ("ratio * 2 == 70", 1),
      ] as [(FetchPredicate, Int)] {
        #expect(try other.count(Gauge.self, matching: predicate) == count, "\(predicate)")
      }
      #expect(try gauges.value(of: .maximum(\.bytes)) == 300)
    }
  }

  @Test("Commits check the range of each numeric type")
  func theRangeIsCheckedByCommits() throws {
    try ObjectStore.use(ManagedObjectModel(for: [Gauge.self]), classes: [Gauge.self]) { store in
      let context = store.makeContext()
      let gauge = context.insert(Gauge.self)
      for (key, value) in [
        ("tiny", 128), ("tiny", -129), ("byte", 256), ("byte", -1), ("port", 65_536),
        ("address", 4_294_967_296), ("bytes", -1), ("count", -1), ("small", 10),
      ] as [(String, PropertyValue)] {
        let former: PropertyValue = gauge[key]
        gauge[key] = value
        #expect(try #require(throws: ArborError.self) { try context.commit() }.keyPath == key)
        gauge[key] = former
        try context.commit()
      }
      gauge["byte"] = 256
      #expect(gauge.byte == 255)
      context.rollback()
    }
  }

  @Test("Durations are converted exactly")
  func durationsAreExact() throws {
    for duration in [
      Duration.zero, .seconds(1), .nanoseconds(-1), Duration(attoseconds: 1),
      Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
      Duration(secondsComponent: .min, attosecondsComponent: 0), .seconds(0.1),
    ] {
      #expect(Duration.fromValue(duration.predicateValue) == duration)
    }
    #expect(Duration.fromValue(.integer(90)) == .seconds(90))
    #expect(Duration.fromValue(.decimal(1e30)) == nil && Duration.fromValue("1") == nil)
  }

  @Test("Integers wider than 64 bits are rejected")
  func otherNumbersAreRefused() throws {
    let entity = EntityDescription(
      name: "Wide", attributes: [AttributeDescription("x", Int128.self, default: 0)])
    let error = try #require(throws: ArborError.self) {
      try PersistentStore(model: ManagedObjectModel(entities: [entity]), at: .inMemory)
    }
    #expect(error.code == .invalidModel && "\(error)".contains("Int128"))
  }

  @Test("Binary data can't be compared with numbers")
  func binaryDataEqualsNoNumber() throws {
    let model = try ManagedObjectModel {
      EntityDescription("File") {
        AttributeDescription("data", .binary, .optional)
        AttributeDescription("bytes", .integer64, .default(0))
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      for (text, arguments) in [
        ("data == 300", []), ("300 != data", []), ("data IN {1, 2}", []), ("data == %@", [300]),
        ("data == bytes", []), ("data < 5", []), ("data IN %@", [[1, 2]]),
      ] as [(String, [(any PredicateArgument)?])] {
        let error = try #require(throws: ArborError.self) {
          try context.count("File", matching: FetchPredicate(format: text, arguments: arguments))
        }
        #expect(error.code == .invalidPredicate, "\(text)")
      }
      #expect(try context.count("File", matching: "data == \(Data([1]))") == 0)
      #expect(try context.count("File", matching: "data == nil") == 0)
    }
  }
}
