import Foundation
import Testing

@testable import ArborObjects

@Suite struct BlankDecoderTests {
  struct Everything: Codable, Equatable {
    enum Kind: String, Codable { case first, second }
    struct Part: Codable, Equatable {
      var size: Float
      var flag: Bool
    }

    var text: String
    var number: Int16
    var big: UInt64
    var ratio: Double
    var date: Date
    var id: UUID
    var page: URL
    var bytes: Data
    var price: Decimal
    var kind: Kind
    var part: Part
    var parts: [Part]
    var names: Set<String>
    var notes: [String: Int]
    var note: String?
  }

  @Test("Every part of a blank value is blank")
  func everyPartIsBlank() {
    let part = Everything.Part(size: 0, flag: false)
    let blank = Everything(
      text: "", number: 0, big: 0, ratio: 0, date: Date(timeIntervalSinceReferenceDate: 0),
      id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), page: URL(filePath: "/"),
      bytes: Data(), price: 0, kind: .first, part: part, parts: [], names: [], notes: [:],
      note: nil)
    #expect(BlankDecoder.value(Everything.self) == blank)
  }

  @Test("Lists and scalars have blank values")
  func listsAndScalarsAreBlank() {
    #expect(BlankDecoder.value([Int].self) == [])
    #expect(BlankDecoder.value(String.self) == "")
    #expect(BlankDecoder.value(Int.self) == 0)
  }

  /// Reads its parts from nested containers.
  private struct Nested: Decodable {
    enum Keys: String, CodingKey { case name, inner, list, base }
    var name: String
    var inner: Int
    var elements: Int
    var base: Double
    var flag: Bool?

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      let inner = try container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
      self.inner = try inner.decode(Int.self, forKey: .inner)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      elements = 0
      while !list.isAtEnd {
        _ = try list.nestedContainer(keyedBy: Keys.self)
        elements += 1
      }
      let base = try container.superDecoder(forKey: .base).singleValueContainer()
      self.base = base.decodeNil() ? 0 : try base.decode(Double.self)
      let superclass = try container.superDecoder().container(keyedBy: Keys.self)
      name = try superclass.decode(String.self, forKey: .name)
      flag = try superclass.decodeIfPresent(Bool.self, forKey: .list)
    }
  }

  @Test("Parts in nested containers are blank")
  func nestedPartsAreBlank() throws {
    let blank = try #require(BlankDecoder.value(Nested.self))
    #expect(blank.name == "" && blank.inner == 0 && blank.elements == 0 && blank.base == 0)
    #expect(blank.flag == nil)
    // Only the marked part differs.
    let marked = try #require(BlankDecoder.value(Nested.self, marks: ["inner", "inner"]))
    #expect(marked.inner == 1 && marked.name == "" && marked.base == 0)
    let base = try #require(BlankDecoder.value(Nested.self, marks: ["base"]))
    #expect(base.base == 1 && base.inner == 0)
  }

  struct Choosy: Decodable {
    init(from decoder: any Decoder) throws {
      guard try decoder.singleValueContainer().decode(Int.self) > 0 else { throw NoSuchValue() }
    }
    struct NoSuchValue: Error {}
  }

  @Test("Types that reject blank values have none")
  func whatTakesNoBlankHasNone() {
    #expect(BlankDecoder.value(Choosy.self) == nil)
    #expect(BlankDecoder.value(ObjectIdentifier.self) == nil)
  }
}
