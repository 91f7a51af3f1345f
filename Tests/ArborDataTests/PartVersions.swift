import ArborData
import Foundation
import TestSupport

/// Two random versions of the parts of a composite type `Address`, which may contain another one,
/// `Spot`, and a plain conversion of values between them.
struct PartVersions {
  /// A part of the newer version, and what becomes of its former values.
  struct Part {
    var newer: AttributeDescription
    let former: AttributeDescription?
    /// Whether the former values are dropped, since only code can convert them.
    var isDropped = false
  }

  struct Versions {
    let name: String
    let former: [AttributeDescription]
    private(set) var parts: [Part]
    var newer: [AttributeDescription] { parts.map(\.newer) }

    init(_ name: String, _ former: [AttributeDescription]) {
      self.name = name
      self.former = former
      parts = former.map { Part(newer: $0, former: $0) }
    }

    /// The names of the former parts whose values are dropped.
    var losses: Set<String> {
      let kept = Set(parts.filter { !$0.isDropped }.compactMap(\.former?.name))
      return Set(former.map(\.name).filter { !kept.contains($0) }.map { "\(name).\($0)" })
    }

    mutating func change(_ random: inout SeededRandom) {
      for index in parts.indices.reversed() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: parts.remove(at: index)
        case 1: rename(index)
        case 2, 3: retype(index, &random)
        case 4 where parts[index].newer.isOptional: tighten(index, &random)
        case 5: parts[index].newer.isOptional = true
        default: break
        }
      }
      for slot in 0..<Int.random(in: 0...2, using: &random) {
        var added = AttributeDescription(name: "new\(slot)", type: .string, isOptional: true)
        if Bool.random(using: &random) { added.defaultValue = "given" }
        if Int.random(in: 0..<3, using: &random) == 0 { added.isOptional = false }
        parts.append(Part(newer: added, former: nil))
      }
      parts.shuffle(using: &random)
    }

    private mutating func rename(_ index: Int) {
      parts[index].newer.renamingIdentifier = parts[index].newer.name
      parts[index].newer.name += "Renamed"
    }

    private mutating func retype(_ index: Int, _ random: inout SeededRandom) {
      let part = parts[index].newer
      if case .composite = part.type { return }
      let type = PartVersions.types.randomElement(using: &random) ?? .string
      guard type != part.type else { return }
      parts[index].newer.type = type
      parts[index].isDropped = !PartVersions.isConverted(part.type, type)
    }

    private mutating func tighten(_ index: Int, _ random: inout SeededRandom) {
      parts[index].newer.isOptional = false
      if parts[index].newer.type == .string, Bool.random(using: &random) {
        parts[index].newer.defaultValue = "given"
      }
    }
  }

  private(set) var address: Versions
  private(set) var spot: Versions

  static let types: [AttributeType] = [
    .string, .integer16, .integer64, .boolean, .double, .date, .uuid,
  ]

  init(_ random: inout SeededRandom) {
    spot = Versions("Spot", Self.parts("s", 0...3, &random))
    var parts = Self.parts("a", 1...4, &random)
    if Bool.random(using: &random) {
      parts.append(
        AttributeDescription(name: "spot", type: .composite("Spot"), isOptional: true))
    }
    address = Versions("Address", parts)
  }

  private static func parts(
    _ prefix: String, _ counts: ClosedRange<Int>, _ random: inout SeededRandom
  ) -> [AttributeDescription] {
    (0..<Int.random(in: counts, using: &random)).map { slot in
      AttributeDescription(
        name: "\(prefix)\(slot)", type: types.randomElement(using: &random) ?? .string,
        isOptional: Int.random(in: 0..<4, using: &random) > 0)
    }
  }

  mutating func change(_ random: inout SeededRandom) {
    address.change(&random)
    if Bool.random(using: &random) { spot.change(&random) }
  }

  /// Whether an address contains a spot in both versions.
  private var usesSpot: Bool {
    [address.former, address.newer].allSatisfy { parts in
      parts.contains { $0.type == .composite("Spot") }
    }
  }

  var losses: Set<String> { address.losses.union(usesSpot ? spot.losses : []) }

  /// Returns a random value of the former version, or `nil`.
  func value(_ random: inout SeededRandom) -> PropertyValue {
    Int.random(in: 0..<6, using: &random) == 0 ? .null : value(address.former, &random)
  }

  private func value(
    _ parts: [AttributeDescription], _ random: inout SeededRandom
  ) -> PropertyValue {
    var values: [String: PropertyValue] = [:]
    for part in parts where !part.isOptional || Bool.random(using: &random) {
      values[part.name] =
        part.type == .composite("Spot")
        ? value(spot.former, &random) : Self.leaf(part.type, &random)
    }
    return .composite(values)
  }

  private static func leaf(
    _ type: AttributeType, _ random: inout SeededRandom
  ) -> PropertyValue {
    let isSmall = Bool.random(using: &random)
    let number = Int64.random(in: isSmall ? 0...9 : 40_000...90_000, using: &random)
    return switch type {
    case .integer16: .integer(Int64.random(in: -9...9, using: &random))
    case .integer64: .integer(number)
    case .boolean: .boolean(isSmall)
    case .double: .double(Double(number) / (Bool.random(using: &random) ? 1 : 2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .uuid: .uuid(UUID(uuidString: "6F8D1D5E-8C0B-4B43-9E0C-2B6E2A3C4D5E") ?? UUID())
    default: .string("text \(number)")
    }
  }

  // MARK: The plain conversion

  static func isConverted(_ former: AttributeType, _ type: AttributeType) -> Bool {
    let numbers: Set<AttributeType> = [.integer16, .integer64, .double]
    switch (former, type) {
    case _ where former == type: return true
    case _ where numbers.contains(former) && numbers.contains(type): return true
    case (.boolean, .integer16), (.boolean, .integer64), (.uuid, .string), (.date, .double):
      return true
    default: return false
    }
  }

  /// Returns a value in the newer version, or `nil` if it lacks a mandatory part or has one that
  /// doesn't fit.
  func converted(_ value: PropertyValue) -> PropertyValue? { converted(value, address) }

  private func converted(_ value: PropertyValue, _ versions: Versions) -> PropertyValue? {
    guard case .composite(let values) = value else { return value }
    var converted: [String: PropertyValue] = [:]
    for part in versions.parts {
      let isKept = part.former != nil && !part.isDropped
      let value = isKept ? part.former.flatMap { values[$0.name] } : nil
      if let former = part.former, let value {
        guard let fitting = self.converted(value, former.type, part.newer.type) else { return nil }
        converted[part.newer.name] = fitting
      } else if !isKept || !part.newer.isOptional {
        if !part.newer.defaultValue.isNull {
          converted[part.newer.name] = part.newer.defaultValue
        } else if !part.newer.isOptional {
          return nil
        }
      }
    }
    return .composite(converted)
  }

  private func converted(
    _ value: PropertyValue, _ former: AttributeType, _ type: AttributeType
  ) -> PropertyValue? {
    switch (value, type) {
    case (.composite, _): return converted(value, spot)
    case _ where former == type: return value
    case (.integer(let number), .integer16):
      return Int16(exactly: number).map { .integer(Int64($0)) }
    case (.integer, .integer64): return value
    case (.integer(let number), .double): return .double(Double(number))
    case (.double(let number), .integer16):
      return Int16(exactly: number).map { .integer(Int64($0)) }
    case (.double(let number), .integer64): return Int64(exactly: number).map { .integer($0) }
    case (.boolean(let flag), _): return .integer(flag ? 1 : 0)
    case (.uuid(let id), _): return .string(id.uuidString)
    case (.date(let date), _): return .double(date.timeIntervalSinceReferenceDate)
    default: return nil
    }
  }
}
