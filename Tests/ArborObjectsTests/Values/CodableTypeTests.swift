import ArborModel
import Foundation
import Testing

@testable import ArborObjects

private enum Size: String, Codable { case small, large }
private enum Payload: Codable { case text(String), nothing }
private struct Cut: Codable {
  var text: String
  var payload: Payload
  var number: Int
}
private struct Inner: Codable { var depth: Int? }
private final class Chain: Codable {
  var name = ""
  var next: Chain?
}
private struct Name: Codable {
  var text: String
  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
/// A type that decodes one key as two types, as types do after a migration.
private struct Changed: Codable {
  var count: Int
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let text = try container.decodeIfPresent(String.self, forKey: .count)
    count = try text.flatMap { Int($0) } ?? container.decode(Int.self, forKey: .count)
  }
}
private struct Everything: Codable {
  var yes: Bool
  var text: String?
  var small: Int8
  var wide: UInt64?
  var float: Float
  var double: Double
  var decimal: Decimal
  var date: Date?
  var uuid: UUID
  var url: URL
  var data: Data
  var size: Size?
  var payload: Payload?
  var inner: Inner?
  var name: Name
  var list: [Int]
  var dictionary: [String: Int]
  var optionalList: [Int]?

  enum CodingKeys: String, CodingKey {
    case yes, text, small, wide, float, double, decimal, date, uuid, url, data, size, payload, inner
    case name, list, dictionary, optionalList
  }
}

/// A type that accepts an object without some of its members.
private struct Tolerant: Codable {
  var name: String
  var count: Int
  var tags: [String]
  var note: String?
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    count = container.contains(.count) ? try container.decode(Int.self, forKey: .count) : 1
    tags = (try? container.decode([String].self, forKey: .tags)) ?? []
    note = try container.decodeIfPresent(String.self, forKey: .note)
  }
}
/// A type that encodes other JSON than it decodes.
private struct Uneven: Codable {
  var count: Int
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode("\(count)", forKey: .count)
  }
}
private enum Mood: Int, Codable, CaseIterable { case calm = 1, wild = 7 }
private struct Moods: Codable {
  var mood: Mood
  var all: Set<Mood>
  var byText: [String: Mood]
  var byMood: [Mood: String]
  var holes: [String?]
}

private struct Ten<Part: Codable>: Codable { var a, b, c, d, e, f, g, h, i, j: Part }
private struct Nine<Part: Codable>: Codable { var a, b, c, d, e, f, g, h, i: Part }
private struct Box<Part: Codable>: Codable { var part: Part }

@Suite struct CodableTypeTests {
  @Test("The structure of a type is found from what it decodes")
  func whatATypeAsksForIsFoundOut() {
    #expect(
      CodableType(Everything?.self).shape == [
        "yes": .boolean, "text": .optional(.string),
        "small": .scalar(.integer(bits: 8, isSigned: true)),
        "wide": .optional(.scalar(.integer(bits: 64, isSigned: false))), "float": .float,
        "double": .double, "decimal": .decimal, "date": .optional(.date), "uuid": .uuid,
        "url": .uri, "data": .binary, "size": .optional(.string), "payload": .any,
        "inner": .optional(["depth": .optional(.integer)]), "name": .string,
        "list": .list(.integer), "dictionary": .map(.integer),
        "optionalList": .optional(.list(.integer)),
      ])
  }

  @Test("The cases of enumerations are known if they are listed")
  func casesAreListed() {
    let cases = JSONShape.cases([1, 7])
    #expect(
      CodableType(Moods.self).shape == [
        "mood": cases, "all": .list(cases), "byText": .map(cases), "byMood": .any, "holes": .any,
      ])
  }

  @Test("A member is optional if the type can be decoded without it")
  func whatMayBeMissingIsTried() {
    #expect(
      CodableType(Tolerant.self).shape == [
        "name": .string, "count": .optional(.integer), "tags": .optional(.list(.string)),
        "note": .optional(.string),
      ])
  }

  @Test("A type that encodes other JSON than it decodes has no known structure")
  func unevenTypesAreAny() {
    #expect(PlainAttribute.shape(of: Uneven.self) == nil)
    #expect(PlainAttribute.shape(of: Inner.self) != nil)
  }

  @Test("A type of 1,000 parts has a structure, and a larger or deeper one is any JSON")
  func thereAreLimits() throws {
    let largest = AttributeDescription("x", Nine<Ten<Ten<Int>>>.self)
    guard case .object(let members) = largest.shape else {
      Issue.record("\(String(describing: largest.shape))")
      return
    }
    #expect(members.count == 9 && members.values.allSatisfy { $0.levels == 3 })
    #expect(AttributeDescription("x", Box<Nine<Ten<Ten<Int>>>>.self).shape == nil)

    func boxed<Part: Codable>(_ type: Part.Type, _ levels: Int) -> JSONShape? {
      levels == 1
        ? AttributeDescription("x", type).shape : boxed(Box<Part>.self, levels - 1)
    }
    let deepest = try #require(boxed(Int.self, 60))
    #expect(deepest.levels == 60)
    #expect(boxed(Int.self, 61) == nil)
    // Types without a known structure are stored, read and queried nevertheless.
    let model = try ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing", attributes: [AttributeDescription("value", Box<Nine<Ten<Ten<Int>>>>.self)])
    ]).validated()
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let row = Ten(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10)
      let rows = Ten(a: row, b: row, c: row, d: row, e: row, f: row, g: row, h: row, i: row, j: row)
      let all = Nine(
        a: rows, b: rows, c: rows, d: rows, e: rows, f: rows, g: rows, h: rows, i: rows)
      try context.insert("Thing")._setAttribute(0, Box(part: all))
      try context.commit()
      let found = try store.makeContext().objects("Thing").filter("value.part.c.d.e == 5").first()
      let value: Box<Nine<Ten<Ten<Int>>>>? = found?._attribute(0)
      #expect(value?.part.i.j.h == 8)
    }
  }

  @Test("A recursive type is any JSON where it recurs")
  func typesThatContainThemselvesEnd() {
    #expect(CodableType(Chain.self).shape == ["name": .string, "next": .any])
    var type = CodableType(Chain.self)
    for _ in 0..<5 {
      guard case .object(let members, isComplete: true) = type.structure,
        let next = members["next"]
      else {
        Issue.record("next is an object")
        return
      }
      type = next.type
    }
  }

  @Test(
    "An enumeration with associated values is any JSON, and so is a type with a part of two types")
  func partsBehindWhatCannotBeBlankAreNotKnown() {
    #expect(
      CodableType(Cut.self).shape == ["text": .string, "payload": .any, "number": .integer])
    #expect(CodableType(Changed.self).shape == .any)
  }
}
