import ArborModel
import ArborObjects

/// Objects that models are made of, reached the same way.
///
/// What one of them leads to is read for all of them together, once the first model asks for it: in
/// one pass over the relationship and one over the entity, whatever the number of objects.
final class ReadCohort {
  private let context: ManagedObjectContext
  private let trail: Trail
  /// Made when a model asks where they lead, which most last ones do not.
  private lazy var objects: [ManagedObject] = makeObjects?() ?? []
  private var makeObjects: (() -> [ManagedObject])?
  private var next: [Relationship: ReadCohort] = [:]

  /// A relationship of an entity, whatever model type leads along it.
  private struct Relationship: Hashable {
    let entity: Int
    let slot: Int
  }

  /// What has been read along each relationship, so that circles come to an end.
  private final class Trail {
    var owners: [Relationship: Set<ManagedObject>] = [:]
  }

  /// The objects that a call makes models of.
  convenience init(_ objects: [ManagedObject], in context: ManagedObjectContext) {
    self.init(in: context, Trail()) { objects }
  }

  private init(
    in context: ManagedObjectContext, _ trail: Trail, _ objects: @escaping () -> [ManagedObject]
  ) {
    self.context = context
    self.trail = trail
    makeObjects = objects
  }

  /// Reads what a relationship leads to from all of the objects that have it; returns the objects
  /// there, as far as the relationship was not followed from their owners before.
  func following(_ relationship: MappedRelationship) throws(ArborError) -> ReadCohort {
    let id = Relationship(
      entity: relationship.owner.index, slot: relationship.slot)
    if let known = next[id] { return known }
    let slot = relationship.slot
    var owners: [ManagedObject] = []
    for object in objects where object.isKind(of: relationship.owner) && !object.isDeleted {
      if trail.owners[id, default: []].insert(object).inserted { owners.append(object) }
    }
    if owners.count > 1 {
      // Of a to-many relationship the context remembers what it has read last. Where the levels of
      // a tree follow one relationship, models of the levels above have yet to ask.
      try context.session.prefetch(
        atSlot: slot, of: relationship.isToMany ? Array(trail.owners[id] ?? []) : owners)
    }
    let cohort = ReadCohort(in: context, trail) {
      owners.flatMap { owner in
        relationship.isToMany
          ? owner.objects(atSlot: slot) : owner.object(atSlot: slot).map { [$0] } ?? []
      }.eachOnce
    }
    next[id] = cohort
    return cohort
  }
}
