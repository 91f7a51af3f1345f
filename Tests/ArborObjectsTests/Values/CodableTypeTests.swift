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

@Suite struct CodableTypeTests {
  private func parts(_ type: any Codable.Type) -> [String: CodableParts] {
    if case .object(let members, _) = CodableType(type).shape { members } else { [:] }
  }

  private func scalar(_ parts: CodableParts?) -> CodableScalar? {
    if case .scalar(let scalar)? = parts?.shape { scalar } else { nil }
  }

  @Test("The keys that a type decodes and their types are discovered")
  func whatATypeAsksForIsFoundOut() {
    let parts = parts(Everything?.self)
    #expect(parts.count == 18)
    let scalars: [String: CodableScalar] = [
      "yes": .boolean, "text": .string, "small": .integer, "wide": .integer, "float": .float,
      "double": .double, "decimal": .decimal, "date": .date, "uuid": .uuid, "url": .uri,
      "data": .binary, "size": .string, "name": .string,
    ]
    for (key, part) in parts { #expect(scalar(part) == scalars[key], "\(key)") }
    for key in ["list", "optionalList"] {
      guard case .opaque? = parts[key]?.shape else {
        Issue.record("\(key) is a list")
        continue
      }
    }
    if case .object(let members, _)? = parts["inner"]?.shape {
      #expect(scalar(members["depth"]) == .integer)
    } else {
      Issue.record("inner is an object")
    }
  }

  @Test("Recursive types can be followed to any depth")
  func typesThatContainThemselvesEnd() {
    var parts = parts(Chain.self)
    for _ in 0..<5 {
      #expect(scalar(parts["name"]) == .string)
      guard case .object(let next, _)? = parts["next"]?.shape else {
        Issue.record("next is an object")
        return
      }
      parts = next
    }
  }

  @Test("Parts that follow one without a blank value are unknown")
  func partsBehindWhatCannotBeBlankAreNotKnown() {
    guard case .object(let members, let end) = CodableType(Cut.self).shape else {
      Issue.record("Cut is an object")
      return
    }
    #expect(members.keys.sorted() == ["payload", "text"] && end == "payload")
  }

  @Test("A part that may have two types is unknown")
  func whatMayBeTwoTypesIsNotKnown() {
    if case .opaque = CodableType(Changed.self).shape {
    } else {
      Issue.record("count may be either")
    }
  }
}
