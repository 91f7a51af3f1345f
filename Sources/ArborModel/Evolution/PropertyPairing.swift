/// The origins of a newer model's attributes, or of its relationships, in an older model.
///
/// Most properties have a partner: a property of the same entity. The values of a property that
/// moves up or down the hierarchy come from related entities; those of the objects of one subentity
/// come from exactly one of them.
struct PropertyPairing: Sendable {
  /// For each property of each entity in the older model, the slot of its partner in the newer one.
  private(set) var newPartners: [[Int?]]
  /// For each property of each entity in the newer model, the slot of its partner in the older one.
  private(set) var oldPartners: [[Int?]]
  /// For each moved property of the newer model, its origins in the older one.
  private(set) var moves: [PropertySlot: [PropertySlot]] = [:]
  /// For each moved property of the older model, its targets in the newer one.
  private(set) var movesTo: [PropertySlot: [PropertySlot]] = [:]
  private var movedSlots: [Hop: Int] = [:]

  /// A property of the newer model and an entity of the older one.
  private struct Hop: Hashable {
    let new: PropertySlot
    let oldEntity: Int
  }

  private init(oldCounts: [Int], newCounts: [Int]) {
    newPartners = oldCounts.map { Array(repeating: nil, count: $0) }
    oldPartners = newCounts.map { Array(repeating: nil, count: $0) }
  }

  /// Pairs properties by identity. `relatives` are the entities that exist in both models.
  init(
    _ entities: EntityPairing, _ relatives: [EntityPairing.Relatives],
    _ old: [[PartIdentity]], _ new: [[PartIdentity]]
  ) {
    self.init(oldCounts: old.map(\.count), newCounts: new.map(\.count))
    var pairs = relatives.map { IdentityPairs(identifiersOf: old[$0.old], new[$0.new]) }
    join(pairs, relatives)
    // A matching identifier in a related entity also takes precedence over a matching name.
    addMoves(among: relatives, entities, old, new, onlyIdentifiers: true)
    for (index, pair) in relatives.enumerated() {
      pairs[index].pairNames(old[pair.old], new[pair.new]) { oldSlot, newSlot in
        oldSlot.map { movesTo[PropertySlot(entity: pair.old, slot: $0)] != nil } ?? false
          || newSlot.map { moves[PropertySlot(entity: pair.new, slot: $0)] != nil } ?? false
      }
    }
    join(pairs, relatives)
    addMoves(among: relatives, entities, old, new)
  }

  private mutating func join(_ pairs: [IdentityPairs], _ relatives: [EntityPairing.Relatives]) {
    for (pairs, pair) in zip(pairs, relatives) {
      newPartners[pair.old] = pairs.newOf
      oldPartners[pair.new] = pairs.oldOf
    }
  }

  /// Pairs the loose properties of entities with those of related entities; see
  /// ``LooseProperties``.
  ///
  /// - Parameter onlyIdentifiers: Whether to pair only by identifier, and only if at least one of
  ///   the two properties has a renaming identifier.
  private mutating func addMoves(
    among relatives: [EntityPairing.Relatives], _ entities: EntityPairing,
    _ old: [[PartIdentity]], _ new: [[PartIdentity]], onlyIdentifiers: Bool = false
  ) {
    let loose = LooseProperties(self)
    for pair in relatives {
      let from = loose.old(pair, entities)
      guard !from.isEmpty else { continue }
      let to = loose.new(pair, entities)
      guard !to.isEmpty else { continue }
      let (former, present) = (
        from.map { old[$0.entity][$0.slot] }, to.map { new[$0.entity][$0.slot] }
      )
      let pairs =
        onlyIdentifiers
        ? IdentityPairs(identifiersOf: former, present) : IdentityPairs(former, present)
      for (index, partner) in pairs.oldOf.enumerated() {
        guard let partner else { continue }
        if onlyIdentifiers {
          // A property that keeps its name hasn't been renamed, regardless of other identifiers.
          let stays = isNamed(former[partner].name, at: entities.newOf[from[partner].entity], new)
          let stayed = isNamed(present[index].name, at: entities.oldOf[to[index].entity], old)
          guard present[index].isMarked && !stays || former[partner].isMarked && !stayed else {
            continue
          }
        }
        // Properties of the same entity have already been paired, unless an identifier contradicts
        // that.
        guard entities.newOf[from[partner].entity] != to[index].entity else { continue }
        addMove(from: from[partner], to: to[index])
      }
    }
  }

  private func isNamed(_ name: String, at entity: Int?, _ parts: [[PartIdentity]]) -> Bool {
    entity.map { parts[$0].contains { $0.name == name } } ?? false
  }

  private mutating func addMove(from old: PropertySlot, to new: PropertySlot) {
    let hop = Hop(new: new, oldEntity: old.entity)
    guard movedSlots[hop] == nil else { return }
    movedSlots[hop] = old.slot
    moves[new, default: []].append(old)
    movesTo[old, default: []].append(new)
  }

  func partner(ofOld slot: PropertySlot, _ entities: EntityPairing) -> PropertySlot? {
    guard let entity = entities.newOf[slot.entity], let new = newPartners[slot.entity][slot.slot]
    else { return nil }
    return PropertySlot(entity: entity, slot: new)
  }

  func partner(ofNew slot: PropertySlot, _ entities: EntityPairing) -> PropertySlot? {
    guard let entity = entities.oldOf[slot.entity], let old = oldPartners[slot.entity][slot.slot]
    else { return nil }
    return PropertySlot(entity: entity, slot: old)
  }

  /// Returns all properties of the older model that provide values of a property.
  func sources(of new: PropertySlot, _ entities: EntityPairing) -> [PropertySlot] {
    (partner(ofNew: new, entities).map { [$0] } ?? []) + (moves[new] ?? [])
  }

  /// Returns all properties of the newer model that receive values of a property.
  func targets(of old: PropertySlot, _ entities: EntityPairing) -> [PropertySlot] {
    (partner(ofOld: old, entities).map { [$0] } ?? []) + (movesTo[old] ?? [])
  }

  /// Returns the property of an entity or its ancestors in the older model that provides a
  /// property's values for objects of that entity, or `nil` if there isn't one.
  func source(
    of new: PropertySlot, for pair: EntityPairing.Relatives, _ entities: EntityPairing
  ) -> PropertySlot? {
    if let partner = partner(ofNew: new, entities), pair.oldLineage.contains(partner.entity) {
      return partner
    }
    guard moves[new] != nil else { return nil }
    return pair.oldLineage.lazy.compactMap { entity in
      movedSlots[Hop(new: new, oldEntity: entity)].map { PropertySlot(entity: entity, slot: $0) }
    }.first { old in
      // The same source can move elsewhere for other subentities. Identifiers take precedence.
      movesTo[old]?.first { pair.newLineage.contains($0.entity) } == new
    }
  }

  /// Returns the pairing of this one's older model with the newer model of `next`.
  func composed(
    with next: PropertyPairing, _ entities: EntityPairing, _ nextEntities: EntityPairing
  ) -> PropertyPairing {
    let ends = entities.composed(with: nextEntities)
    var result = PropertyPairing(
      oldCounts: newPartners.map(\.count), newCounts: next.oldPartners.map(\.count))
    for (entity, slots) in next.oldPartners.enumerated() {
      for slot in slots.indices {
        let new = PropertySlot(entity: entity, slot: slot)
        for middle in next.sources(of: new, nextEntities) {
          for old in sources(of: middle, entities) {
            if ends.oldOf[entity] == old.entity {
              result.oldPartners[entity][slot] = old.slot
              result.newPartners[old.entity][old.slot] = slot
            } else {
              result.addMove(from: old, to: new)
            }
          }
        }
      }
    }
    return result
  }

  /// Returns this pairing, completed from another pairing of the same models for properties that
  /// have no counterpart.
  ///
  /// - Parameters:
  ///   - otherEntities: The entity pairing that belongs to the other pairing.
  ///   - entities: The entity pairing that belongs to the result.
  func filled(
    from other: PropertyPairing, _ otherEntities: EntityPairing, _ entities: EntityPairing
  ) -> PropertyPairing {
    var result = self
    for (entity, slots) in other.oldPartners.enumerated() {
      for slot in slots.indices {
        let new = PropertySlot(entity: entity, slot: slot)
        guard oldPartners[entity][slot] == nil, moves[new] == nil else { continue }
        for old in other.sources(of: new, otherEntities)
        where newPartners[old.entity][old.slot] == nil && movesTo[old] == nil {
          let isPartner = otherEntities.oldOf[entity] == old.entity
          guard isPartner == (entities.oldOf[entity] == old.entity) else { continue }
          if isPartner {
            result.oldPartners[entity][slot] = old.slot
            result.newPartners[old.entity][old.slot] = slot
          } else {
            result.addMove(from: old, to: new)
          }
        }
      }
    }
    return result
  }
}

/// The properties that could move: those without a partner, and those of ancestors that the entity
/// has in only one model.
struct LooseProperties {
  private let unpairedOld: [[Int]]
  private let unpairedNew: [[Int]]
  private let oldCounts: [Int]
  private let newCounts: [Int]

  init(_ pairing: PropertyPairing) {
    func unpaired(_ slots: [Int?]) -> [Int] { slots.indices.filter { slots[$0] == nil } }
    unpairedOld = pairing.newPartners.map(unpaired)
    unpairedNew = pairing.oldPartners.map(unpaired)
    oldCounts = pairing.newPartners.map(\.count)
    newCounts = pairing.oldPartners.map(\.count)
  }

  func old(_ pair: EntityPairing.Relatives, _ entities: EntityPairing) -> [PropertySlot] {
    Self.slots(
      pair.oldLineage, Set(entities.lostAncestors(pair)), all: oldCounts, unpaired: unpairedOld)
  }

  func new(_ pair: EntityPairing.Relatives, _ entities: EntityPairing) -> [PropertySlot] {
    Self.slots(
      pair.newLineage, Set(entities.gainedAncestors(pair)), all: newCounts, unpaired: unpairedNew)
  }

  private static func slots(
    _ lineage: [Int], _ whole: Set<Int>, all: [Int], unpaired: [[Int]]
  ) -> [PropertySlot] {
    lineage.flatMap { entity -> [PropertySlot] in
      whole.contains(entity)
        ? (0..<all[entity]).map { PropertySlot(entity: entity, slot: $0) }
        : unpaired[entity].map { PropertySlot(entity: entity, slot: $0) }
    }
  }
}
