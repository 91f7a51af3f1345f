import ArborModel
import Foundation
import ModelSamples

/// Objects in memory, as records and as dictionaries, on which predicates are tested.
///
/// People have one attribute of each type. Workers are people with one more field before the
/// relationships, so that field offsets differ between the entities.
final class PredicateWorld: RecordResolver {
  static let kinds: [(name: String, type: AttributeType)] = [
    ("short", .integer16), ("medium", .integer32), ("long", .integer64), ("flag", .boolean),
    ("single", .float), ("ratio", .double), ("price", .decimal), ("name", .string),
    ("born", .date), ("photo", .binary), ("key", .uuid), ("home", .uri), ("extra", .undefined),
  ]

  static let storeID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  /// An object as the naive evaluator reads it.
  struct Object {
    let id: ObjectID
    let number: ObjectNumber
    var values: [String: PropertyValue]
  }

  let schema: ModelSchema
  let person: EntitySchema
  let worker: EntitySchema
  let company: EntitySchema
  private(set) var objects: [ObjectNumber: Object] = [:]
  private var records: [ObjectNumber: RecordBuffer] = [:]
  private var links: [ObjectNumber: [String: [ObjectNumber]]] = [:]
  /// The number of times that members were listed rather than counted or looked up.
  private(set) var memberReads = 0
  /// The reason for which an evaluation was interrupted.
  private(set) var interruption: Interruption?
  /// Whether predicates are compiled with a budget of work.
  var chargesWork = false
  /// The work that was charged.
  private(set) var work = 0
  private let allocator = SlabAllocator()
  private var lastNumber: UInt64 = 0

  init() throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Company",
        attributes: [
          AttributeDescription(name: "title", type: .string, isOptional: true),
          AttributeDescription(name: "size", type: .integer32, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "staff", destination: "Person", inverse: "company", isToMany: true),
          RelationshipDescription(name: "head", destination: "Person"),
          RelationshipDescription(
            name: "ranking", destination: "Person", isToMany: true, isOrdered: true),
        ]),
      EntityDescription(
        name: "Person",
        attributes: Self.kinds.map {
          AttributeDescription(name: $0.name, type: $0.type, isOptional: true)
        },
        relationships: [
          RelationshipDescription(name: "company", destination: "Company", inverse: "staff"),
          RelationshipDescription(
            name: "boss", destination: "Person", inverse: "reports"),
          RelationshipDescription(
            name: "reports", destination: "Person", inverse: "boss", isToMany: true),
        ]),
      EntityDescription(
        name: "Worker", parent: "Person",
        attributes: [AttributeDescription(name: "wage", type: .integer64, isOptional: true)]),
    ])
    schema = try SchemaFixture.schema(of: model)
    company = schema.entities[0]
    person = schema.entities[1]
    worker = schema.entities[2]
  }

  var environment: PredicateEnvironment {
    PredicateEnvironment(schema: schema, storeID: Self.storeID, chargesWork: chargesWork)
  }

  /// Inserts an object. Relationships are passed as `.objectID`.
  @discardableResult
  func insert(_ entity: EntitySchema, _ values: [String: PropertyValue]) -> Object {
    lastNumber += 1
    let number = ObjectNumber(entity: entity.number, sequence: lastNumber)
    let id = ObjectID(
      storeID: Self.storeID, entityName: entity.name, number: number.sequence)
    var record = RecordBuffer(copying: entity.layout.template, into: allocator)
    var stored: [String: PropertyValue] = [:]
    for (name, value) in values {
      guard !value.isNull, let field = Self.field(name, of: entity) else { continue }
      var raw = value
      if field.kind == .reference, case .objectID(let target) = value {
        raw = .integer(Int64(bitPattern: self.number(target).rawValue))
      }
      guard record.set(field, raw, allocator: allocator) else { continue }
      stored[name] = value
    }
    records[number] = record
    let object = Object(id: id, number: number, values: stored)
    objects[number] = object
    return object
  }

  func number(_ id: ObjectID) -> ObjectNumber {
    ObjectNumber(entity: schema.entity(named: id.entityName)?.number ?? 0, sequence: id.number)
  }

  private static func field(_ name: String, of entity: EntitySchema) -> RecordField? {
    switch entity.property(named: name) {
    case .attribute(let attribute): return attribute.field
    case .relationship(let relationship):
      guard case .field(let index) = relationship.storage else { return nil }
      return entity.layout.fields[index]
    case nil: return nil
    }
  }

  func admitElements(_ count: Int) -> Bool { true }

  func admitWork(_ units: Int) -> Bool { true }

  func charge(_ units: Int) -> Bool {
    work += units
    return true
  }

  var room: Int { 16 << 20 }

  func interrupt(_ interruption: Interruption) { self.interruption = interruption }

  func hold(_ size: Int) -> Bool { true }

  func release(_ size: Int) {}

  /// A new number each time, because objects may change between evaluations and results must not be
  /// cached.
  var evaluation: UInt64 {
    lastEvaluation += 1
    return lastEvaluation
  }
  private var lastEvaluation: UInt64 = 0

  func record(of number: ObjectNumber) -> RecordView? { records[number]?.view }

  /// Returns the members set by ``link(_:_:to:)``, or else those whose inverse refers to the owner.
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    memberReads += 1
    if let named = links[owner]?[relationship.name] { return named }
    let inverse = schema.inverse(of: relationship)
    guard !inverse.isToMany, let id = objects[owner]?.id else { return [] }
    return objects.values.filter { $0.values[inverse.name] == .objectID(id) }.map(\.number)
      .sorted()
  }

  func memberCount(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> Int {
    let before = memberReads
    defer { memberReads = before }
    return members(of: owner, relationship).count
  }

  func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) -> Data? { nil }

  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) -> Bool {
    let before = memberReads
    defer { memberReads = before }
    return members(of: owner, relationship).contains(member)
  }

  /// Sets the members of a relationship without a to-one inverse.
  func link(_ owner: Object, _ name: String, to members: [Object]) {
    links[owner.number, default: [:]][name] = members.map(\.number)
  }

  /// Returns the value at the end of a path, followed through the dictionaries.
  func value(_ names: [String], of object: Object) -> PropertyValue {
    guard let name = names.first else { return .objectID(object.id) }
    if name == "objectID" { return .objectID(object.id) }
    if names == ["entity", "name"] { return .string(object.id.entityName) }
    let value = object.values[name] ?? .null
    if names.count == 1 { return value }
    guard case .objectID(let id) = value, let next = objects[number(id)] else { return .null }
    return self.value(Array(names.dropFirst()), of: next)
  }

  /// Returns the numbers of the objects of an entity or its subentities that match a predicate, as
  /// evaluated by compiled code.
  func matches(
    _ predicate: FetchPredicate, in entity: EntitySchema? = nil
  ) throws -> Set<ObjectNumber> {
    let entity = entity ?? person
    let bound = try PredicateBinder.bind(predicate, to: entity, in: schema)
    return try matches([bound.root], predicate.arguments, in: entity)
  }

  func matches(
    _ nodes: [BoundNode], _ arguments: [PropertyValue], in entity: EntitySchema
  ) throws -> Set<ObjectNumber> {
    var numbers: Set<ObjectNumber> = []
    for index in entity.concreteFamily {
      let concrete = schema.entities[index]
      let test = try PredicateCompiler.compile(
        nodes, arguments: arguments, for: concrete, environment: environment)
      for (number, record) in records where number.entity == concrete.number {
        if test(record.view, number, self) { numbers.insert(number) }
      }
    }
    return numbers
  }

  /// Returns the sorted names of the matching people.
  func names(_ predicate: FetchPredicate) throws -> [String] {
    try matches(predicate).compactMap { number in
      if case .string(let name)? = objects[number]?.values["name"] { name } else { nil }
    }.sorted()
  }
}
