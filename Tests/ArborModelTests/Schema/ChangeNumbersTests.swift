import ArborModel
import Testing

@Suite struct ChangeNumbersTests {
  /// Returns a schema of an entity with one attribute per catalog number, and `links`
  /// relationships stored as links.
  private func schema(
    _ numbers: [UInt16], links: Int, layout: UInt16 = 1, reversed: Bool = false
  ) throws -> ModelSchema {
    let names = numbers.indices.map { "a\($0)" }
    let relationships = (0..<links).map {
      RelationshipDescription(
        name: "r\($0)", destination: "Thing", inverse: "r\($0)", isToMany: true)
    }
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing", attributes: names.map { .init(name: $0, type: .string, isOptional: true) },
        relationships: reversed ? relationships.reversed() : relationships)
    ])
    var catalog = SchemaCatalog(entries: [:])
    catalog.entries["Thing"] = .init(
      number: 1, layoutNumber: layout,
      properties: Dictionary(uniqueKeysWithValues: zip(names, numbers)))
    return try ModelSchema(model, catalog: catalog)
  }

  private func numbers(_ schema: ModelSchema) throws -> ChangeNumbers {
    try #require(schema.changeNumbers(of: ObjectNumber(entity: 1, sequence: 1)))
  }

  /// Returns the names of a set of changed properties that was written with one schema and read
  /// with another.
  private func translated(
    _ bits: UInt64, _ from: ModelSchema, _ to: ModelSchema
  ) throws -> Set<String> {
    let (from, into) = (try numbers(from), try numbers(to))
    var read = into.bits(numbered: from.numbered(bits))
    var listed = 0
    from.forEachLink(in: bits) {
      read |= into.bit(ofLink: $0)
      listed += 1
    }
    #expect(listed == from.linkCount(in: bits))
    return to.entities[0].propertyNames(changed: read)
  }

  @Test("Consecutive property numbers are the bits of the change set")
  func numbersInOrderAreTheBits() throws {
    let schema = try schema([1, 2, 3], links: 2)
    let numbers = try numbers(schema)
    for bits in 0..<8 as Range<UInt64> {
      #expect(numbers.numbered(bits) == bits && numbers.bits(numbered: bits) == bits)
    }
    #expect(numbers.numbered(0b11010) == 0b010 && numbers.linkCount(in: 0b11010) == 2)
    #expect(numbers.numbered(.max) == 0b111 | EntitySchema.otherProperties)
    // A field that only another model has.
    #expect(numbers.bits(numbered: 0b1000) == 0 && numbers.bit(ofLink: 9) == 0)
  }

  @Test("A set of properties keeps its meaning when read with another model")
  func namesAreTheSameInEveryNumbering() throws {
    let former = try schema([1, 2, 3, 4, 5], links: 4)
    // The attributes a0 to a3 have the same numbers, and the fifth one is new.
    let present = try schema([1, 2, 3, 4, 9], links: 3, reversed: true)
    for bits in 0..<512 as Range<UInt64> {
      let names = former.entities[0].propertyNames(changed: bits)
      #expect(try translated(bits, former, present) == names.subtracting(["a4", "r3"]))
      #expect(try translated(bits, former, former) == names)
    }
    #expect(try translated(1 << 4, present, present) == ["a4"])
    #expect(try translated(1 << 4, present, former) == [])
  }

  @Test("Fields without a bit of their own are reported together with all other such fields")
  func whatHasNoBitOfItsOwnIsNamedWithTheOthers() throws {
    let schema = try schema([1, 63, 64, 70], links: 1)
    let all = ["a2", "a3", "r0"] as Set<String>
    #expect(try translated(1 << 1, schema, schema) == ["a1"])
    #expect(try translated(1 << 2, schema, schema) == all)
    #expect(try translated(1 << 3, schema, schema) == all)
    #expect(try translated(1 << 4, schema, schema) == ["r0"])
    let wide = try self.schema(Array(1...80), links: 2)
    #expect(try translated(1 << 62, wide, wide) == ["a62"])
    let others = Set((63..<80).map { "a\($0)" } + ["r0", "r1"])
    #expect(try translated(1 << 63, wide, wide) == others)
    #expect(try translated(wide.entities[0].changeBit(ofLinks: 1), wide, wide) == others)
    let edge = try self.schema(Array(1...62), links: 2)
    #expect(try translated(1 << 62, edge, edge) == ["r0"])
    #expect(try translated(1 << 63, edge, edge) == ["r0", "r1"])
  }

  @Test("An unexpected property number is tolerated")
  func aForgedNumberIsAnyNumber() throws {
    let schema = try schema([0, 1, 2], links: 0)
    let numbers = try numbers(schema)
    #expect(numbers.numbered(0b111) == 0b11)
    #expect(numbers.bits(numbered: 0b11) == 0b111)
    #expect(schema.changeNumbers(of: ObjectNumber(entity: 5, sequence: 1)) == nil)
  }
}
