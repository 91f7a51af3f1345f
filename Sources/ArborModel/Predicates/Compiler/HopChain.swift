/// The location of a property in the records of each entity of a family.
struct FieldLocations {
  private struct Location {
    let entity: UInt16
    let field: RecordField
  }

  private let locations: [Location]

  init(_ family: [EntitySchema], _ field: (EntitySchema) -> RecordField?) {
    locations = family.compactMap { entity in
      field(entity).map { Location(entity: entity.number, field: $0) }
    }
  }

  /// Creates the locations of a to-one relationship's references.
  init(_ relationship: RelationshipSchema, in family: [EntitySchema]) {
    self.init(family) { entity in
      guard case .field(let index) = entity.relationships[relationship.slot].storage else {
        return nil
      }
      return entity.layout.fields[index]
    }
  }

  var isExternal: Bool { locations.contains { $0.field.isExternal } }

  @inline(__always)
  subscript(number: ObjectNumber) -> RecordField? {
    let entity = number.entity
    for location in locations where location.entity == entity { return location.field }
    return nil
  }
}

/// A chain of to-one relationships that starts at the candidate of the code's own scope or of an
/// enclosing one.
struct HopChain {
  private let frame: EvaluationFrame?
  private let hops: [FieldLocations]
  /// The concrete entities that the object at the end can belong to.
  let family: [EntitySchema]

  init(
    _ relationships: [RelationshipSchema], from family: [EntitySchema], frame: EvaluationFrame?,
    in schema: ModelSchema
  ) {
    var family = family
    var hops: [FieldLocations] = []
    for relationship in relationships {
      hops.append(FieldLocations(relationship, in: family))
      family = schema.family(of: schema.entities[relationship.destination])
    }
    self.frame = frame
    self.hops = hops
    self.family = family
  }

  /// Whether the chain is empty and starts at the candidate itself.
  var isCandidate: Bool { frame == nil && hops.isEmpty }

  @inline(__always)
  func object(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?
  ) -> LocatedObject? {
    guard var object = start(record, number) else { return nil }
    for hop in hops {
      guard let next = hop[object.number].flatMap(object.record.reference),
        let found = resolver?.record(of: next)
      else { return nil }
      object = LocatedObject(record: found, number: next)
    }
    return object
  }

  /// Returns the object at the end, without reading its record, or `nil` if the chain ends early.
  @inline(__always)
  func target(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?
  ) -> ObjectNumber? {
    guard var object = start(record, number) else { return nil }
    for index in hops.indices {
      guard let next = hops[index][object.number].flatMap(object.record.reference) else {
        return nil
      }
      if index == hops.count - 1 { return next }
      guard let found = resolver?.record(of: next) else { return nil }
      object = LocatedObject(record: found, number: next)
    }
    return object.number
  }

  @inline(__always)
  private func start(_ record: RecordView, _ number: ObjectNumber) -> LocatedObject? {
    guard let frame else { return LocatedObject(record: record, number: number) }
    return frame.record.map { LocatedObject(record: $0, number: frame.number) }
  }
}

struct LocatedObject {
  let record: RecordView
  let number: ObjectNumber
}

extension ModelSchema {
  /// Returns the concrete entities that are an entity or inherit from it.
  func family(of entity: EntitySchema) -> [EntitySchema] {
    entity.concreteFamily.map { entities[$0] }
  }
}
