import ArborModel
import ArborStore
import Foundation
import TestSupport

/// An object as plain values, for the oracle.
final class PlainObject {
  let number: ObjectNumber
  let entity: EntitySchema
  var values: [String: PropertyValue]
  var links: [String: PlainObject]

  init(
    _ number: ObjectNumber, _ entity: EntitySchema, _ values: [String: PropertyValue],
    _ links: [String: PlainObject] = [:]
  ) {
    self.number = number
    self.entity = entity
    self.values = values
    self.links = links
  }

  /// Returns the object's record in the unsealed form.
  func record(_ allocator: SlabAllocator) -> RecordBuffer {
    var record = RecordBuffer(copying: entity.layout.template, into: allocator)
    for attribute in entity.attributes {
      let value = values[attribute.name] ?? .null
      precondition(
        record.set(attribute.field, value, allocator: allocator),
        "\(value) is no value of \(attribute.name).")
    }
    for relationship in entity.relationships where !relationship.isHidden {
      guard case .field(let index) = relationship.storage else { continue }
      let target = links[relationship.name].map { Int64(bitPattern: $0.number.rawValue) }
      _ = record.set(
        entity.layout.fields[index], target.map(PropertyValue.integer) ?? .null,
        allocator: allocator)
    }
    return record
  }
}

/// A store with every kind of index, and its random objects.
struct QueryWorld {
  static func model(isIndexed: Bool) -> ManagedObjectModel {
    func attribute(
      _ name: String, _ type: AttributeType, isIndexed hasIndex: Bool = false
    ) -> AttributeDescription {
      AttributeDescription(
        name: name, type: type, isOptional: true, isIndexed: hasIndex && isIndexed)
    }
    func index(
      _ name: String, _ elements: [FetchIndexDescription.Element]
    ) -> [FetchIndexDescription] {
      isIndexed ? [FetchIndexDescription(name: name, elements: elements)] : []
    }
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Company",
        attributes: [
          attribute("name", .string, isIndexed: true), attribute("rating", .double),
          attribute("city", .string),
        ],
        relationships: [
          RelationshipDescription(
            name: "employees", destination: "Employee", inverse: "company", isToMany: true)
        ]),
      EntityDescription(
        name: "Person",
        attributes: [
          attribute("name", .string, isIndexed: true),
          attribute("age", .integer32, isIndexed: true),
          attribute("score", .double, isIndexed: true), attribute("born", .date, isIndexed: true),
          attribute("isActive", .boolean, isIndexed: true),
          attribute("note", .string, isIndexed: true),
          attribute("price", .decimal, isIndexed: true), attribute("tag", .uuid, isIndexed: true),
          attribute("plain", .string), attribute("level", .integer16),
        ],
        fetchIndexes: index(
          "byAgeName", [.init("age"), .init("name", isAscending: false), .init("score")])),
      EntityDescription(
        name: "Employee", parent: "Person",
        attributes: [attribute("badge", .integer64)],
        relationships: [
          RelationshipDescription(name: "company", destination: "Company", inverse: "employees"),
          RelationshipDescription(name: "mentor", destination: "Person"),
        ],
        fetchIndexes: index("byCompanyAge", [.init("company"), .init("age", isAscending: false)]),
        uniquenessConstraints: isIndexed ? [["badge"]] : []),
      EntityDescription(
        name: "Manager", parent: "Employee",
        attributes: [attribute("bonus", .float, isIndexed: true)]),
    ])
  }

  let store: StoreEngine
  private(set) var objects: [PlainObject] = [] {
    didSet { byNumber = Self.indices(objects) }
  }
  private var byNumber: [ObjectNumber: Int] = [:]

  /// Opens a store. If it was filled before, `objects` are its contents.
  init(
    isIndexed: Bool, location: StoreOpening.Location = .inMemory, objects: [PlainObject] = []
  ) throws {
    store = try StoreEngine.open(
      StoreOpening(location, model: Self.model(isIndexed: isIndexed)))
    self.objects = objects
    byNumber = Self.indices(objects)
  }

  private static func indices(_ objects: [PlainObject]) -> [ObjectNumber: Int] {
    Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.number, $0) })
  }

  func object(_ number: ObjectNumber) -> PlainObject? {
    byNumber[number].map { objects[$0] }
  }

  func entity(_ name: String) -> EntitySchema {
    guard let entity = store.schema.entity(named: name) else {
      preconditionFailure("The model has no entity \(name).")
    }
    return entity
  }

  /// Fills the store with objects. The same seed yields the same objects with the same numbers.
  mutating func fill(_ count: Int, using random: inout SeededRandom) throws {
    let companies = try add(count / 20 + 2, "Company", using: &random)
    let people = try add(count / 4, "Person", using: &random)
    let employees = try add(count / 2, "Employee", using: &random)
    let managers = try add(count / 4, "Manager", using: &random)
    for employee in employees + managers {
      Self.link(employee, companies, people + employees, using: &random)
    }
    try commit(objects)
  }

  static func link(
    _ employee: PlainObject, _ companies: [PlainObject], _ people: [PlainObject],
    using random: inout SeededRandom
  ) {
    employee.links["company"] =
      Int.random(in: 0..<8, using: &random) == 0 ? nil : companies.randomElement(using: &random)
    employee.links["mentor"] =
      Int.random(in: 0..<4, using: &random) == 0 ? nil : people.randomElement(using: &random)
  }

  private mutating func add(
    _ count: Int, _ name: String, using random: inout SeededRandom
  ) throws -> [PlainObject] {
    let entity = entity(name)
    let made = try store.takeNumbers(count, for: entity).map { sequence in
      PlainObject(
        ObjectNumber(entity: entity.number, sequence: sequence), entity,
        Self.values(entity, Int(sequence), using: &random))
    }
    objects += made
    return made
  }

  /// Inserts objects in one commit.
  func commit(_ objects: [PlainObject]) throws {
    let allocator = SlabAllocator()
    var slabs: [RecordSlab] = []
    var changes = ChangeSet()
    for object in objects {
      let record = object.record(allocator)
      slabs.append(record.slab)
      changes.records.append(.insert(object.number, record.view))
    }
    _ = try withExtendedLifetime(slabs) { try store.commit(changes) }
  }

  static func values(
    _ entity: EntitySchema, _ sequence: Int, using random: inout SeededRandom
  ) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for attribute in entity.attributes {
      values[attribute.name] =
        attribute.name == "badge"
        ? .integer(Int64(entity.number) * 10_000 + Int64(sequence))
        : value(attribute.name, using: &random)
    }
    return values
  }

  /// Returns a value of an attribute from a small domain, so that many objects share it.
  static func value(_ name: String, using random: inout SeededRandom) -> PropertyValue {
    if Int.random(in: 0..<10, using: &random) == 0 { return .null }
    let number = Int.random(in: 0..<40, using: &random)
    switch name {
    case "age": return .integer(Int64(number + 20))
    case "level": return .integer(Int64(number % 5 - 2))
    case "badge": return .integer(Int64(number % 4 + 1) * 10_000 + Int64(number))
    case "score", "rating": return .double(Double(number - 10) / 4)
    case "bonus": return .double(Double(number) / 8)
    case "born": return .date(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400 - 1e6))
    case "isActive": return .boolean(number % 3 == 0)
    case "price": return .decimal(Decimal(number - 20) / 10)
    case "tag":
      return .uuid(UUID(uuid: (UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
    case "note":
      // Long strings that differ before, at and after the offset at which keys are truncated.
      return .string(
        String(repeating: "n", count: [0, 3, 475, 479, 480, 600][number % 6])
          + String("abc".prefix(number % 4)))
    default:
      let names = ["Ann", "ann", "Änn", "Bob", "bob", "Bo", "Zoë", "zoe", "", "Ann\0", "李"]
      return .string(names[number % names.count] + (number % 3 == 0 ? "\(number)" : ""))
    }
  }
}
