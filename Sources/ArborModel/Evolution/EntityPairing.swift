/// The corresponding entities of two models, and how their positions in the hierarchy differ.
struct EntityPairing: Sendable {
  /// For each entity of the older model, its index in the newer one.
  let newOf: [Int?]
  /// For each entity of the newer model, its index in the older one.
  let oldOf: [Int?]
}

extension EntityPairing {
  init(_ old: EntityTree, _ new: EntityTree) {
    let pairs = IdentityPairs(
      old.entities.map { PartIdentity($0) }, new.entities.map { PartIdentity($0) })
    self.init(newOf: pairs.newOf, oldOf: pairs.oldOf)
  }

  /// Returns the pairing of this one's older model with the newer model of `next`.
  func composed(with next: EntityPairing) -> EntityPairing {
    EntityPairing(
      newOf: newOf.map { $0.flatMap { next.newOf[$0] } },
      oldOf: next.oldOf.map { $0.flatMap { oldOf[$0] } })
  }

  /// Returns this pairing, completed from another pairing of the same models for entities that have
  /// no counterpart.
  func filled(from other: EntityPairing) -> EntityPairing {
    var (newOf, oldOf) = (newOf, oldOf)
    for (old, new) in other.newOf.enumerated() {
      guard let new, newOf[old] == nil, oldOf[new] == nil else { continue }
      newOf[old] = new
      oldOf[new] = old
    }
    return EntityPairing(newOf: newOf, oldOf: oldOf)
  }

  /// An entity that exists in both models, with its ancestors in each.
  struct Relatives {
    let old: Int
    let new: Int
    let oldLineage: [Int]
    let newLineage: [Int]
    let isElsewhere: Bool
  }

  /// Returns the entities that exist in both models, each after its ancestors.
  func relatives(_ old: EntityTree, _ new: EntityTree) -> [Relatives] {
    var isElsewhere = [Bool](repeating: false, count: new.entities.count)
    return new.topDown.compactMap { index in
      let parent = new.parents[index]
      if let parent { isElsewhere[index] = isElsewhere[parent] }
      guard let partner = oldOf[index] else {
        // Descendants of a new entity have a new ancestor.
        isElsewhere[index] = true
        return nil
      }
      let formerParent = old.parents[partner].map { newOf[$0] }
      // If the parent was removed, the inner optional is `nil`.
      if formerParent != (parent.map { .some($0) }) { isElsewhere[index] = true }
      return Relatives(
        old: partner, new: index, oldLineage: old.lineage(of: partner),
        newLineage: new.lineage(of: index), isElsewhere: isElsewhere[index])
    }
  }

  /// Returns the ancestors in the older model that an entity has lost.
  func lostAncestors(_ relatives: Relatives) -> [Int] {
    guard relatives.isElsewhere else { return [] }
    return relatives.oldLineage.filter { old in
      newOf[old].map { !relatives.newLineage.contains($0) } ?? true
    }
  }

  /// Returns the ancestors in the newer model that an entity has gained.
  func gainedAncestors(_ relatives: Relatives) -> [Int] {
    guard relatives.isElsewhere else { return [] }
    return relatives.newLineage.filter { new in
      oldOf[new].map { !relatives.oldLineage.contains($0) } ?? true
    }
  }
}
