/// The hierarchy of a model's entities by index, with their declared properties by name.
///
/// Tolerates invalid models: of several entities with the same name, the first is used; an unknown
/// parent is ignored; and a cycle is broken.
struct EntityTree: Sendable {
  enum Property: Sendable, Hashable {
    case attribute(PropertySlot)
    case relationship(PropertySlot)
  }

  let entities: [EntityDescription]
  let indexByName: [String: Int]
  let parents: [Int?]
  /// The entities, each after its ancestors.
  let topDown: [Int]
  private let properties: [[String: Property]]

  init(_ model: ManagedObjectModel) {
    entities = model.entities
    let indexByName = Dictionary(
      entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.indexByName = indexByName
    (parents, topDown) = Self.ordered(entities.map { $0.parent.flatMap { indexByName[$0] } })
    properties = entities.enumerated().map { index, entity in
      let attributes = entity.attributes.enumerated().map {
        ($1.name, Property.attribute(PropertySlot(entity: index, slot: $0)))
      }
      let relationships = entity.relationships.enumerated().map {
        ($1.name, Property.relationship(PropertySlot(entity: index, slot: $0)))
      }
      return Dictionary(attributes + relationships, uniquingKeysWith: { first, _ in first })
    }
  }

  /// Returns the parents without cycles, and the entities in order from the roots down.
  private static func ordered(_ parents: [Int?]) -> ([Int?], [Int]) {
    var parents = parents
    var order: [Int] = []
    var isVisited = [Bool](repeating: false, count: parents.count)
    var isOnPath = isVisited
    for start in parents.indices {
      var path: [Int] = []
      var next: Int? = start
      while let index = next, !isVisited[index] {
        if isOnPath[index] {
          parents[path[path.count - 1]] = nil
          break
        }
        isOnPath[index] = true
        path.append(index)
        next = parents[index]
      }
      for index in path.reversed() {
        isVisited[index] = true
        order.append(index)
      }
    }
    return (parents, order)
  }

  /// Returns an entity followed by its ancestors.
  func lineage(of index: Int) -> [Int] {
    var lineage = [index]
    while let parent = parents[lineage[lineage.count - 1]] { lineage.append(parent) }
    return lineage
  }

  func isKind(_ index: Int, of other: Int) -> Bool { lineage(of: index).contains(other) }

  /// Returns the own or inherited property of an entity with the given name, or `nil` if it doesn't
  /// exist.
  func property(named name: String, of index: Int) -> Property? {
    var next: Int? = index
    while let entity = next {
      if let property = properties[entity][name] { return property }
      next = parents[entity]
    }
    return nil
  }

  func relationship(named name: String, of index: Int) -> PropertySlot? {
    guard case .relationship(let slot)? = property(named: name, of: index) else { return nil }
    return slot
  }

  func attribute(_ slot: PropertySlot) -> AttributeDescription {
    entities[slot.entity].attributes[slot.slot]
  }

  func relationship(_ slot: PropertySlot) -> RelationshipDescription {
    entities[slot.entity].relationships[slot.slot]
  }

  /// Returns the stored indexes that an entity itself declares.
  func keptIndexes(of index: Int) -> [KeptIndex] {
    entities[index].keptIndexes { column in
      switch property(named: column.property, of: index) {
      case .attribute(let slot)?: column.fits(attribute(slot))
      case .relationship(let slot)?: column.fits(relationship(slot))
      case nil: false
      }
    }
  }
}

/// An attribute or relationship, identified by the index of its declaring entity and its own index.
struct PropertySlot: Sendable, Hashable {
  let entity: Int
  let slot: Int
}
