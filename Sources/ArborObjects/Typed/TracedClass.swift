internal import ArborLocks
internal import ArborModel
internal import Foundation

/// What tracing needs to know of a typed class: its properties by their numbers, in an entity of
/// its own that stands in no store.
final class TracedClass: Sendable {
  /// No model has an entity of this name.
  static let entityName = "arbor.traced"

  /// What every to-one relationship leads to where only the ID is asked for.
  static let targetID = ObjectID(storeID: identifier(1), entityName: entityName, number: 1)

  let schema: ModelSchema
  let entity: EntitySchema
  let attributes: [AttributeDescription]
  let relationships: [RelationshipDescription]

  private static let known = Lock<[ObjectIdentifier: TracedClass]>([:])

  /// What is known of a class; found out once in a process.
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
        "\(objectClass) describes no entity, so its key paths have no names. Mark it with @Entity, "
          + "or pass names as strings.")
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

  /// An identifier that is made up.
  static func identifier(_ last: UInt8) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
  }
}

/// One object on the way of a key path: tells the tracer what is read of it.
///
/// It is `@unchecked` because bindings are sendable: a traced binding and its object are made, used
/// and dropped within one call.
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

  /// Makes a traced object: a record with a marker in every attribute.
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
