import ArborExchange
import ArborJSON
import ArborModel
import Foundation
import Testing

/// Types that implement their own coding. Foundation's coders for JSON are the oracle: each side
/// reads what the other one wrote.
@Suite struct HandwrittenCodingTests {
  /// Records the coding paths at which values are encoded and decoded.
  private final class Paths {
    nonisolated(unsafe) static var seen: [String] = []

    static func note(_ path: [any CodingKey]) {
      let names = path.map { $0.intValue.map(String.init) ?? $0.stringValue }
      seen.append(names.joined(separator: "."))
    }
  }

  /// A value of one part, which is encoded without a key.
  private struct Single<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
      Paths.note(decoder.codingPath)
      value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
      Paths.note(encoder.codingPath)
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  private struct Nothing: Codable, Equatable {
    init() {}

    init(from decoder: any Decoder) throws {
      guard try decoder.singleValueContainer().decodeNil() else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not null"))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  /// A list of different values, which contains other containers.
  private struct Mixed: Codable, Equatable {
    enum Keys: String, CodingKey { case name }
    var flag = true
    var text = "a"
    var double = 0.1
    var float: Float = 0.1
    var byte: Int8 = -8
    var large = UInt64.max
    var name = "Ada"
    var inner = [1, 2]
    var single = Single(7)

    init() {}

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      Paths.note(list.codingPath)
      let isNull = try list.decodeNil()
      flag = try list.decodeNil() || list.decode(Bool.self)
      text = try list.decode(String.self)
      double = try list.decode(Double.self)
      float = try list.decode(Float.self)
      byte = try list.decode(Int8.self)
      large = try list.decode(UInt64.self)
      single = try list.decode(Single<Int>.self)
      name = try list.nestedContainer(keyedBy: Keys.self).decode(String.self, forKey: .name)
      var numbers = try list.nestedUnkeyedContainer()
      inner = []
      while !numbers.isAtEnd { inner.append(try numbers.decode(Int.self)) }
      let number = try Int(from: list.superDecoder())
      let other = try list.superDecoder().container(keyedBy: Keys.self)
      guard isNull, number == 9, try other.decode(String.self, forKey: .name) == name, list.isAtEnd,
        list.count == list.currentIndex
      else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "another list"))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      Paths.note(list.codingPath)
      try list.encodeNil()
      try list.encode(flag)
      try list.encode(text)
      try list.encode(double)
      try list.encode(float)
      try list.encode(byte)
      try list.encode(large)
      try list.encode(single)
      var keyed = list.nestedContainer(keyedBy: Keys.self)
      try keyed.encode(name, forKey: .name)
      var numbers = list.nestedUnkeyedContainer()
      for number in inner { try numbers.encode(number) }
      try 9.encode(to: list.superEncoder())
      var other = list.superEncoder().container(keyedBy: Keys.self)
      try other.encode(name, forKey: .name)
    }
  }

  private class Base: Codable {
    var width: Float = 0.3

    init() {}
  }

  /// A class that encodes its superclass separately.
  private final class Derived: Base {
    enum Keys: String, CodingKey { case height }
    var height = 2.5

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      height = try container.decode(Double.self, forKey: .height)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(height, forKey: .height)
      try super.encode(to: container.superEncoder())
    }
  }

  private struct Sample: ValueModel, Equatable {
    enum Keys: String, CodingKey {
      case mixed, flag, ratio, share, nothing, group, list, base, null, direct
    }
    enum Group: String, CodingKey { case first, second }
    var mixed = Mixed()
    var flag = Single(true)
    var ratio = Single(0.1)
    var share = Single<Float>(0.2)
    var nothing = Nothing()
    var first: Float = 1.5
    var second: Float? = nil
    var list = [3, 4]
    var base = Derived()
    var direct = [8, 9]

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      Paths.note(container.codingPath)
      mixed = try container.decode(Mixed.self, forKey: .mixed)
      flag = try container.decode(Single<Bool>.self, forKey: .flag)
      ratio = try container.decode(Single<Double>.self, forKey: .ratio)
      share = try container.decode(Single<Float>.self, forKey: .share)
      nothing = try container.decode(Nothing.self, forKey: .nothing)
      let group = try container.nestedContainer(keyedBy: Group.self, forKey: .group)
      first = try group.decode(Float.self, forKey: .first)
      second = try group.decodeIfPresent(Float.self, forKey: .second)
      var numbers = try container.nestedUnkeyedContainer(forKey: .list)
      list = try [numbers.decode(Int.self), numbers.decode(Int.self)]
      base = try Derived(from: container.superDecoder(forKey: .base))
      direct = try [Int](from: container.superDecoder(forKey: .direct))
      guard try container.decodeNil(forKey: .null) else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not null"))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      Paths.note(container.codingPath)
      try container.encode(mixed, forKey: .mixed)
      try container.encode(flag, forKey: .flag)
      try container.encode(ratio, forKey: .ratio)
      try container.encode(share, forKey: .share)
      try container.encode(nothing, forKey: .nothing)
      var group = container.nestedContainer(keyedBy: Group.self, forKey: .group)
      try group.encode(first, forKey: .first)
      try group.encodeIfPresent(second, forKey: .second)
      var numbers = container.nestedUnkeyedContainer(forKey: .list)
      for number in list { try numbers.encode(number) }
      try base.encode(to: container.superEncoder(forKey: .base))
      try direct.encode(to: container.superEncoder(forKey: .direct))
      try container.encodeNil(forKey: .null)
    }

    static func == (one: Self, other: Self) -> Bool {
      one.mixed == other.mixed && one.flag == other.flag && one.ratio == other.ratio
        && one.share == other.share && one.first == other.first && one.second == other.second
        && one.list == other.list && one.base.width == other.base.width
        && one.base.height == other.base.height && one.direct == other.direct
    }
  }

  @Test("Every kind of container has the same form as in Foundation's coders")
  func containersAgreeWithFoundation() throws {
    var sample = Sample()
    sample.mixed.inner = [5, 6, 7]
    sample.base.width = 0.7
    for second in [nil, Float(0.4)] {
      sample.second = second
      Paths.seen = []
      let ours = Data(try ValueAdapter.encode(sample).text().utf8)
      let pathsOfOurs = Paths.seen
      Paths.seen = []
      let theirs = try JSONEncoder().encode(sample)
      #expect(pathsOfOurs == Paths.seen)
      Paths.seen = []
      #expect(try JSONDecoder().decode(Sample.self, from: ours) == sample)
      let pathsOfTheirs = Paths.seen
      Paths.seen = []
      #expect(try ValueAdapter.decode(Sample.self, from: .data(theirs)) == sample)
      #expect(Paths.seen == pathsOfTheirs)
    }
  }

  private struct Concealing: ValueModel {
    enum Keys: String, CodingKey { case group, list, shown }
    static let jsonKeyPaths: JSONKeyPaths = ["group": nil, "list": nil]

    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      var group = container.nestedContainer(keyedBy: Keys.self, forKey: .group)
      try group.encode(1, forKey: .shown)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(2)
      try container.encode(3, forKey: .shown)
    }
  }

  @Test("Excluded keys of nested containers are left out")
  func excludedContainersAreLeftOut() throws {
    #expect(try ValueAdapter.encode(Concealing()).text() == #"{"shown":3}"#)
  }

  private struct Keyless: ValueModel {
    static let entityName = "Banner"
    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encode(1)
    }
  }

  @Test("A model without keys is refused")
  func modelsNeedKeys() throws {
    let error = try #require(throws: ArborError.self) { try ValueAdapter.encode(Keyless()) }
    #expect(
      error.message
        == "Keyless encodes itself without keys. A value model must encode its properties by coding "
        + "keys.")
  }

  private struct Pair: Codable {
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      _ = try (list.decode(Bool.self), list.decode(Bool.self))
    }
    func encode(to encoder: any Encoder) throws {}
  }

  private struct Paired: ValueModel {
    var pair: Pair
  }

  @Test("Reading after the last element of a list is an error")
  func listsEnd() throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(Paired.self, from: ["pair": [true]])
    }
    #expect(
      error.message
        == "Expected an element at index 1, but the list ends there. Add the element.")
    #expect(error.location?.path == "$.pair")
  }
}
