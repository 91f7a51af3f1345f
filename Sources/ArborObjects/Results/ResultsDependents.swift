internal import ArborModel
internal import ArborStore

/// The objects that may have become results, ceased to be results or moved because objects changed
/// to which paths of the request lead. They are found through the inverses of the paths.
struct ResultsDependents {
  private let related: [PropertiesRead.Related]
  private let schema: ModelSchema
  private let snapshot: StoreSnapshot
  private let overlay: (any PendingState)?
  /// Whether objects along each path, before its end, are deleted in the context.
  private let leadsOverDeleted: [Bool]
  /// The changed objects at the end of each path.
  private var changed: [[ObjectNumber]]

  init(
    _ related: [PropertiesRead.Related], in schema: ModelSchema, on snapshot: StoreSnapshot,
    overlay: (any PendingState)?, hasDeletions: (EntitySchema) -> Bool
  ) {
    self.related = related
    self.schema = schema
    self.snapshot = snapshot
    self.overlay = overlay
    leadsOverDeleted = related.map { path in
      path.hops.dropLast().contains { hasDeletions(schema.entities[$0.destination]) }
    }
    changed = related.map { _ in [] }
  }

  /// Adds an object that has changed.
  ///
  /// - Parameters:
  ///   - bits: The changed properties.
  ///   - isGone: Whether the object no longer exists.
  /// - Returns: Whether the objects that depend on it can be found.
  mutating func add(
    _ number: ObjectNumber, _ entity: EntitySchema, changed bits: UInt64, isGone: Bool
  ) -> Bool {
    for (index, path) in related.enumerated() {
      guard bits & path.bits(of: entity) != 0, let last = path.hops.last else { continue }
      let inverse = entity.relationships[last.inverseSlot]
      // The deletion has changed the objects that referred to it, which are reported unless the
      // model says that they remain as they were.
      if isGone, inverse.deleteRule == .noAction { return false }
      // An object that is deleted in the context is no member of others, but another commit may have
      // added objects that refer to it.
      if leadsOverDeleted[index] { return false }
      changed[index].append(number)
    }
    return true
  }

  /// Returns the objects that depend on the added ones.
  func numbers() throws(StoreError) -> Set<ObjectNumber> {
    var dependents: Set<ObjectNumber> = []
    guard changed.contains(where: { !$0.isEmpty }) else { return dependents }
    return try snapshot.resolving(overlay: overlay) { resolver throws(StoreError) in
      for (path, numbers) in zip(related, changed) {
        var numbers = numbers
        for hop in path.hops.reversed() {
          numbers = numbers.flatMap { resolver.objects(leadingTo: $0, by: hop, in: schema) }
        }
        dependents.formUnion(numbers)
      }
      return dependents
    }
  }
}

extension RecordResolver {
  /// Returns the objects whose to-one relationship leads to an object.
  fileprivate func objects(
    leadingTo number: ObjectNumber, by hop: RelationshipSchema, in schema: ModelSchema
  ) -> [ObjectNumber] {
    guard schema.leads(hop, to: number), let entity = schema.entity(of: number) else { return [] }
    let inverse = entity.relationships[hop.inverseSlot]
    guard let field = inverse.field else { return members(of: number, inverse) }
    return record(of: number)?.reference(field).map { [$0] } ?? []
  }
}
