internal import ArborFoundation
internal import ArborLocks
internal import ArborModel

/// The metadata for tracing a typed class: its properties by number, in an entity of its own that
/// belongs to no store.
final class TracedClass: Sendable {
  /// A name that no model uses for an entity.
  static let entityName = "arbor.traced"

  /// The ID that every to-one relationship returns if only its target's ID is read.
  static let targetID = ObjectID(storeID: identifier(1), entityName: entityName, number: 1)

  let schema: ModelSchema
  let entity: EntitySchema
  let attributes: [AttributeDescription]
  let relationships: [RelationshipDescription]

  private static let known = Lock<[ObjectIdentifier: TracedClass]>([:])

  /// Returns the metadata of a class, which is created once per process.
  static func of(_ objectClass: ManagedObject.Type) throws(ArborError) -> TracedClass {
    let key = ObjectIdentifier(objectClass)
    if let known = known.withLock({ $0[key] }) { return known }
    let traced = try TracedClass(objectClass)
    known.withLock { $0[key] = traced }
    return traced
  }

  private init(_ objectClass: ManagedObject.Type) throws(ArborError) {
    let lineage = objectClass.describedLineage
    guard !lineage.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "\(objectClass) doesn't describe an entity, so its key paths have no names. Mark it with "
          + "@Entity, or pass names as strings.")
    }
    attributes = lineage.flatMap(\.attributes)
    relationships = lineage.flatMap(\.relationships)
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: Self.entityName,
        attributes: attributes.map {
          AttributeDescription(
            name: $0.name, type: $0.type, isOptional: true, defaultValue: $0.defaultValue)
        },
        relationships: relationships.map {
          RelationshipDescription(
            name: $0.name, destination: Self.entityName, isToMany: $0.isToMany,
            isOrdered: $0.isOrdered)
        })
    ])
    schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    entity = schema.entities[0]
  }

  /// Returns a placeholder UUID with the given last byte. All other bytes are zero.
  static func identifier(_ last: UInt8) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
  }
}

/// One object on a key path, which reports the properties that are read.
///
/// `@unchecked` because bindings are sendable. A traced binding and its object are created, used
/// and released within one call.
final class ClassTrace: PropertyTrace, @unchecked Sendable {
  private let traced: TracedClass
  private let tracer: PathTracer

  init(_ traced: TracedClass, _ tracer: PathTracer) {
    self.traced = traced
    self.tracer = tracer
  }

  var attributes: [AttributeDescription] { traced.attributes }
  var relationships: [RelationshipDescription] { traced.relationships }

  func noteAttribute(_ slot: Int) -> Bool {
    guard attributes.indices.contains(slot) else { return false }
    let attribute = attributes[slot]
    tracer.note(attribute: attribute.name, tracer.marker(for: attribute.type), of: self)
    return true
  }

  func value<T>(codable type: T.Type) -> T? {
    tracer.note(codable: type)
    return PlainAttribute.blank(type, marks: tracer.marks)
  }

  func noteRelationship(_ slot: Int) -> Bool {
    guard relationships.indices.contains(slot) else { return false }
    let relationship = relationships[slot]
    tracer.note(relationship: relationship.name, isToMany: relationship.isToMany, of: self)
    return true
  }

  func destination<T: ManagedObject>(_ objectClass: T.Type) -> T? { try? tracer.make(objectClass) }

  /// Creates a traced object, whose record contains a marker in every attribute.
  func makeObject(_ objectClass: ManagedObject.Type, number: Int) -> ManagedObject {
    let entity = traced.entity
    func slot(_ name: String) -> Int {
      switch entity.property(named: name) {
      case .attribute(let attribute): attribute.slot
      case .relationship(let relationship): relationship.slot
      case nil: 0
      }
    }
    let binding = EntityBinding(
      entity, in: traced.schema, storeID: TracedClass.identifier(0), objectClass: objectClass,
      attributeSlots: attributes.map { slot($0.name) },
      relationshipSlots: relationships.map { slot($0.name) }, trace: self)
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: entity.layout.template, into: allocator)
    for attribute in attributes {
      let value = tracer.marker(for: attribute.type)
      guard !value.isNull, case .attribute(let stored) = entity.property(named: attribute.name)
      else { continue }
      _ = record.set(stored.field, value, allocator: allocator)
    }
    return binding.makeObject(
      in: nil, ObjectNumber(entity: entity.number, sequence: UInt64(number) + 1), record.view,
      record.slab)
  }
}
