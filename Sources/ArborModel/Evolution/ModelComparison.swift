/// A comparison of two models whose parts have been paired, which collects the changes.
struct ModelComparison {
  typealias Change = ModelDifference.Change
  typealias Subject = ModelDifference.Subject
  typealias Effort = ModelDifference.Effort
  typealias Rule = ModelDifference.Rule
  typealias Existence = ModelDifference.Existence

  let old: ManagedObjectModel
  let new: ManagedObjectModel
  let oldTree: EntityTree
  let newTree: EntityTree
  let pairing: ModelPairing
  let attributeFlow: PropertyFlow
  let relationshipFlow: PropertyFlow
  /// The entities that exist in both models, by index in the newer one.
  let relatives: [Int: EntityPairing.Relatives]
  /// The entities of the newer model, including abstract ones, that gain or lose objects.
  let changedFamilies: Set<Int>
  /// The entities among ``changedFamilies`` that gain objects.
  let joinedFamilies: Set<Int>
  /// The entities of the newer model that are destinations of relationships.
  let destinations: Set<Int>
  /// The attributes of the newer model whose existing values, including `nil`, are read as other
  /// values.
  var revalued: Set<PropertySlot> = []
  private var changes: [Change] = []
  private var subject: Subject?
  private var source: Subject?

  init(old: ManagedObjectModel, new: ManagedObjectModel, pairing: ModelPairing) {
    (self.old, self.new, self.pairing) = (old, new, pairing)
    let (oldTree, newTree) = (EntityTree(old), EntityTree(new))
    (self.oldTree, self.newTree) = (oldTree, newTree)
    let entities = pairing.entities
    let relatives = entities.relatives(oldTree, newTree)
    attributeFlow = PropertyFlow(pairing.attributes, entities, relatives, oldTree, newTree)
    relationshipFlow = PropertyFlow(pairing.relationships, entities, relatives, oldTree, newTree)
    self.relatives = Dictionary(uniqueKeysWithValues: relatives.map { ($0.new, $0) })
    joinedFamilies = Set(
      relatives.lazy.filter { [oldTree] in !oldTree.entities[$0.old].isAbstract }
        .flatMap { entities.gainedAncestors($0) })
    changedFamilies = joinedFamilies.union(Self.leftFamilies(entities, relatives, oldTree))
    destinations = Set(
      new.entities.lazy.flatMap(\.relationships).compactMap { newTree.indexByName[$0.destination] })
  }

  private static func leftFamilies(
    _ entities: EntityPairing, _ relatives: [EntityPairing.Relatives], _ old: EntityTree
  ) -> Set<Int> {
    var families: Set<Int> = []
    for pair in relatives where !old.entities[pair.old].isAbstract {
      families.formUnion(entities.lostAncestors(pair).compactMap { entities.newOf[$0] })
    }
    for (index, entity) in old.entities.enumerated()
    where entities.newOf[index] == nil && !entity.isAbstract {
      families.formUnion(old.lineage(of: index).compactMap { entities.newOf[$0] })
    }
    return families
  }

  mutating func changed() -> [Change] {
    // Indexes are compared last, because they depend on inherited properties, but they are listed
    // with their entity.
    var properties: [[Change]] = []
    for index in new.entities.indices {
      compareEntity(index)
      compareAttributes(of: index)
      compareRelationships(of: index)
      properties.append(takeChanges())
    }
    var all: [Change] = []
    for index in new.entities.indices {
      compareIndexes(of: index)
      all += properties[index] + takeChanges()
    }
    for index in old.entities.indices where pairing.entities.newOf[index] == nil {
      noteRemoval(ofEntity: index)
    }
    compareComposites()
    compareModel()
    return all + takeChanges()
  }

  private mutating func takeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }

  // MARK: Recording

  /// Sets the subject of subsequent changes: the names in the newer and in the older model.
  mutating func concern(_ subject: Subject?, _ source: Subject?) {
    self.subject = subject
    self.source = source
  }

  mutating func note(
    _ kind: ModelDifference.Kind, _ effort: Effort, loss: ModelDifference.Loss.Kind? = nil,
    rule: Rule? = nil
  ) {
    let named = source ?? subject
    let loss = loss.flatMap { kind in named.map { ModelDifference.Loss(kind: kind, subject: $0) } }
    changes.append(
      Change(kind: kind, subject: subject, source: source, effort: effort, loss: loss, rule: rule))
  }

  // MARK: The model as a whole

  private mutating func compareModel() {
    concern(nil, nil)
    if old.versionIdentifier != new.versionIdentifier {
      note(
        .model(.versionIdentifierChanged(from: old.versionIdentifier, to: new.versionIdentifier)),
        .none)
    }
    for (name, existence) in Self.differing(old.configurations, new.configurations) {
      note(.model(.configurationChanged(name: name, existence)), .none)
    }
    let requests = Self.differing(
      Self.byName(old.fetchRequestTemplates), Self.byName(new.fetchRequestTemplates))
    for (name, existence) in requests {
      note(.model(.fetchRequestChanged(name: name, existence)), .none)
    }
  }

  private static func byName(_ templates: [FetchRequestTemplate]) -> [String: FetchRequestTemplate]
  {
    Dictionary(templates.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func differing<Part: Equatable>(
    _ old: [String: Part], _ new: [String: Part]
  ) -> [(String, Existence)] {
    Set(old.keys).union(new.keys).sorted().compactMap { name in
      switch (old[name], new[name]) {
      case (nil, _): (name, .added)
      case (_, nil): (name, .removed)
      case (let before, let after): before == after ? nil : (name, .changed)
      }
    }
  }
}
