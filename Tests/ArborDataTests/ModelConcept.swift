import ArborData
import Foundation
import TestSupport

/// A model whose parts have identities in addition to their names, so that the effects of a change
/// of the model can be computed without comparing two models.
struct ModelConcept {
  struct Attribute {
    let identity: Int
    var name: String
    var type: AttributeType
    var defaultValue: PropertyValue = .null
    var isIndexed = false
  }

  struct Entity {
    let identity: Int
    var name: String
    var parent: Int?
    var isAbstract = false
    var attributes: [Attribute] = []
    var isUnique = false
    /// The identities of the indexed attributes.
    var index: [Int] = []
    var isPartial = false
  }

  /// One end of the links of a pair.
  struct Side {
    enum Form: CaseIterable { case toOne, toMany, ordered }

    let identity: Int
    var name: String
    var form: Form
  }

  /// Links between the objects of two entities, accessible from one end or both.
  struct Pair {
    let identity: Int
    /// The identities of the entities at the ends.
    var ends: [Int]
    /// The relationships at the ends; `nil` for an end without one.
    var sides: [Side?]

    func isToOne(_ end: Int) -> Bool { sides[end]?.form == .toOne }
  }

  var entities: [Entity] = []
  var pairs: [Pair] = []
  /// The seed for the order in which parts are listed.
  var order: UInt64 = 0

  subscript(identity: Int) -> Entity? { entities.first { $0.identity == identity } }

  func index(of identity: Int) -> Int? { entities.firstIndex { $0.identity == identity } }

  /// Returns an entity and its ancestors, from the root down.
  func lineage(_ identity: Int) -> [Entity] {
    guard let entity = self[identity] else { return [] }
    return (entity.parent.map(lineage) ?? []) + [entity]
  }

  func isKind(_ identity: Int, of other: Int) -> Bool {
    lineage(identity).contains { $0.identity == other }
  }

  var concrete: [Entity] { entities.filter { !$0.isAbstract } }

  // MARK: Models

  /// Returns the model, with renaming identifiers relative to a former one.
  func model(after former: ModelConcept? = nil) -> ManagedObjectModel {
    var shuffling = SeededRandom(seed: order)
    let described = entities.map { entity -> EntityDescription in
      let attributes = entity.attributes.map { attribute in
        let name = former?.attributeName(attribute.identity)
        return AttributeDescription(
          name: attribute.name, type: attribute.type, isOptional: attribute.defaultValue.isNull,
          defaultValue: attribute.defaultValue, isIndexed: attribute.isIndexed,
          renamingIdentifier: name == attribute.name ? nil : name)
      }
      let ids = AttributeDescription(name: "id", type: .integer64)
      let names = entity.attributes.filter { entity.index.contains($0.identity) }.map(\.name)
      let index = FetchIndexDescription(
        name: "composed", elements: names.map { .init($0) },
        partialIndexPredicate: entity.isPartial ? "\(names.first ?? "") != nil" : nil)
      let name = former?[entity.identity]?.name
      let inheritsID = entity.parent.flatMap { self[$0]?.hasID } ?? false
      let declaresID = entity.hasID && !inheritsID
      return EntityDescription(
        name: entity.name, isAbstract: entity.isAbstract,
        parent: entity.parent.flatMap { self[$0]?.name },
        attributes: (declaresID ? [ids] : []) + attributes.shuffled(using: &shuffling),
        relationships: relationships(of: entity, former).shuffled(using: &shuffling),
        fetchIndexes: names.isEmpty ? [] : [index],
        uniquenessConstraints: entity.isUnique && declaresID ? [["id"]] : [],
        renamingIdentifier: name == entity.name ? nil : name)
    }
    return ManagedObjectModel(entities: described.shuffled(using: &shuffling))
  }

  private func relationships(
    of entity: Entity, _ former: ModelConcept?
  ) -> [RelationshipDescription] {
    pairs.flatMap { pair in
      [0, 1].compactMap { end -> RelationshipDescription? in
        guard pair.ends[end] == entity.identity, let side = pair.sides[end] else { return nil }
        let name = former?.sideName(side.identity)
        return RelationshipDescription(
          name: side.name, destination: self[pair.ends[1 - end]]?.name ?? "",
          inverse: pair.sides[1 - end]?.name, isToMany: side.form != .toOne,
          isOrdered: side.form == .ordered, renamingIdentifier: name == side.name ? nil : name)
      }
    }
  }

  private func attributeName(_ identity: Int) -> String? {
    entities.lazy.flatMap(\.attributes).first { $0.identity == identity }?.name
  }

  private func sideName(_ identity: Int) -> String? {
    pairs.lazy.flatMap(\.sides).compactMap { $0 }.first { $0.identity == identity }?.name
  }
}

extension ModelConcept.Entity {
  /// Whether the entity declares the `id` attribute, which parents inserted later do not.
  var hasID: Bool { !name.hasPrefix("Late") }
}

/// The objects of a ``ModelConcept``.
struct ConceptObjects {
  struct Link: Hashable {
    let owner: Int64
    let member: Int64

    subscript(end: Int) -> Int64 { end == 0 ? owner : member }
  }

  /// The identities of the objects' entities, by `id`.
  var entities: [Int64: Int] = [:]
  var values: [Int64: [Int: PropertyValue]] = [:]
  /// The links by the identity of their pair, in the order of every ordered end.
  var links: [Int: [Link]] = [:]
  /// The ordered sides whose order is unspecified.
  var freeSides: Set<Int> = []

  /// Creates random objects that both models can store.
  init(_ concept: ModelConcept, fitting other: ModelConcept, _ random: inout SeededRandom) {
    for entity in concept.concrete {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let id = Int64(entities.count + 1)
        entities[id] = entity.identity
        for attribute in concept.lineage(entity.identity).flatMap(\.attributes) {
          let isNull = attribute.defaultValue.isNull && Int.random(in: 0..<4, using: &random) == 0
          values[id, default: [:]][attribute.identity] =
            isNull ? .null : PlainValues.value(attribute.type, &random)
        }
      }
    }
    for pair in concept.pairs {
      let later = other.pairs.first { $0.identity == pair.identity }
      let ends = pair.ends.map { end in
        entities.filter { concept.isKind($0.value, of: end) }.map(\.key).sorted()
      }
      var found: Set<Link> = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        guard let owner = ends[0].randomElement(using: &random),
          let member = ends[1].randomElement(using: &random)
        else { continue }
        let link = Link(owner: owner, member: member)
        let fits = [0, 1].allSatisfy { end in
          let isToOne = pair.isToOne(end) || later?.isToOne(end) ?? false
          return !isToOne || !found.contains { $0[end] == link[end] }
        }
        if fits, found.insert(link).inserted { links[pair.identity, default: []].append(link) }
      }
    }
  }

  /// Returns the expected objects after a migration to another model.
  func carried(from old: ModelConcept, to new: ModelConcept) -> ConceptObjects {
    var next = self
    next.entities = entities.filter { new[$0.value] != nil }
    next.values = [:]
    for (id, entity) in next.entities {
      for attribute in new.lineage(entity).flatMap(\.attributes) {
        next.values[id, default: [:]][attribute.identity] =
          values[id]?[attribute.identity] ?? attribute.defaultValue
      }
    }
    next.links = [:]
    for pair in new.pairs {
      let former = old.pairs.first { $0.identity == pair.identity }
      let kept = [0, 1].filter { end in
        pair.sides[end]?.identity != nil
          && pair.sides[end]?.identity == former?.sides[end]?.identity
      }
      if !kept.isEmpty {
        next.links[pair.identity] = links[pair.identity]?.filter { link in
          [0, 1].allSatisfy { end in
            next.entities[link[end]].map { new.isKind($0, of: pair.ends[end]) } ?? false
          }
        }
      }
      for end in [0, 1] {
        guard let side = pair.sides[end], side.form == .ordered,
          !kept.contains(end) || former?.sides[end]?.form != .ordered
        else { continue }
        next.freeSides.insert(side.identity)
      }
    }
    return next
  }

  /// Returns the objects with the names of a model.
  func plain(_ concept: ModelConcept) -> PlainObjects {
    var plain = PlainObjects()
    for (id, identity) in entities {
      let lineage = concept.lineage(identity)
      guard let name = lineage.last?.name else { continue }
      var named: [String: PropertyValue] = ["id": .integer(id)]
      for attribute in lineage.flatMap(\.attributes) {
        named[attribute.name] = values[id]?[attribute.identity] ?? .null
      }
      plain.values[name, default: [:]][id] = named
      for pair in concept.pairs {
        for end in [0, 1] {
          guard let side = pair.sides[end], concept.isKind(identity, of: pair.ends[end]) else {
            continue
          }
          let members = (links[pair.identity] ?? []).filter { $0[end] == id }.map { $0[1 - end] }
          plain.links[name, default: [:]][id, default: [:]][side.name] =
            side.form == .ordered ? members : members.sorted()
        }
      }
    }
    return plain
  }

  /// Returns the relationships whose members may be in any order.
  func freeOrders(_ concept: ModelConcept) -> Set<String> {
    var names: Set<String> = []
    for pair in concept.pairs {
      for end in [0, 1] {
        guard let side = pair.sides[end], freeSides.contains(side.identity) else { continue }
        for entity in concept.concrete where concept.isKind(entity.identity, of: pair.ends[end]) {
          names.insert("\(entity.name).\(side.name)")
        }
      }
    }
    return names
  }
}
