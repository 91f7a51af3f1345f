package import ArborModel

/// The successive models of a store's private copy when it is migrated by passes over its objects
/// or by code.
///
/// The ``bridge`` drops the properties that the newer model stores differently. The ``relaxed``
/// model adds them again, empty, and without the rules that old objects may violate. Passes and
/// code fill them from the original. Then the copy gets the newer model, which checks its rules.
package struct StagedModels: Sendable {
  /// A property that starts empty in the copy.
  package struct Anew: Sendable, Hashable {
    /// The new name of the entity that declares it.
    package let entity: String
    package let property: String
    /// An attribute's name in the older model, or `nil` if it is new. For relationships see
    /// ``StagedModels/relationshipSources``.
    package let source: String?
    package let isRelationship: Bool
  }

  /// The model without the properties that start empty, or `nil` if there are none.
  package let bridge: ManagedObjectModel?
  /// The newer model without the rules that old objects may violate.
  package let relaxed: ManagedObjectModel
  /// The properties that start empty, in the order of the newer model.
  package let anew: [Anew]
  /// The stored derived attributes to compute for present objects, by entity.
  package let computed: [String: [String]]
  /// The new names of the entities that both models contain, by their former names.
  package let newNames: [String: String]
  /// The names in the older model of the relationships that an entity keeps, including inherited
  /// ones, by entity and by their new names.
  package let relationshipSources: [String: [String: String]]
  /// The names in the older model of the attributes and to-one relationships whose values an
  /// entity keeps in its records, by entity and by their new names.
  package let fieldSources: [String: [String: String]]
  package let difference: ModelDifference

  /// - Parameters:
  ///   - renames: New names of entities that are not paired by an identifier, by their former
  ///     names.
  ///   - versions: The models in between, oldest first.
  /// - Throws: `exhausted`, `invalidModel`.
  package init(
    from old: ModelSchema, to target: ManagedObjectModel, via versions: [ManagedObjectModel] = [],
    renames: [String: String] = [:]
  ) throws(StoreError) {
    let marked = Self.marked(target, renames, old.model)
    difference = old.model.difference(to: marked, via: versions)
    let evolution: CatalogEvolution
    do throws(ArborError) {
      evolution = try CatalogEvolution(difference, from: old.catalog)
    } catch {
      throw .exhausted(error.message)
    }
    newNames = Dictionary(
      uniqueKeysWithValues: evolution.entities.map { ($0.oldName, $0.name) })
    relationshipSources = Dictionary(
      uniqueKeysWithValues: evolution.entities.map { ($0.name, $0.relationships) })
    fieldSources = Dictionary(
      uniqueKeysWithValues: evolution.entities.map { plan in
        let former = old.catalog.entries[plan.oldName]?.properties ?? [:]
        let names = Dictionary(
          former.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        let numbers = evolution.catalog.entries[plan.name]?.properties ?? [:]
        return (plan.name, numbers.compactMapValues { names[$0] })
      })
    let moves = DatabaseMoves(
      from: old, to: try StoreOpener.schema(marked, evolution.catalog), evolution)
    var search = AnewSearch(marked, old, difference, evolution)
    search.add(moves.obstacles)
    repeat { search.close() } while search.addMistaken(via: versions)
    anew = search.anew
    computed = search.computed
    relaxed = search.relaxed()
    bridge = search.isEmpty ? nil : search.bridge(relaxed)
  }

  /// Returns the names in the older model of the attributes and to-one relationships whose values
  /// an entity keeps or that a pass restores, by their new names.
  package func valueSources(of entity: EntityDescription) -> [String: String] {
    var sources = fieldSources[entity.name] ?? [:]
    let lineage = Set(relaxed.lineage(of: entity).map(\.name))
    for anew in anew where lineage.contains(anew.entity) {
      if let source = anew.source, !anew.isRelationship { sources[anew.property] = source }
    }
    return sources
  }

  /// Returns whether an expression over properties of an entity of the newer model depends on
  /// values that a pass restores or computes.
  package func fills(_ expression: String, of entity: String) -> Bool {
    func isAncestor(_ name: String, of kind: String) -> Bool {
      relaxed.entity(named: kind).map(relaxed.lineage(of:))?.contains { $0.name == name } ?? false
    }
    let filled = anew.lazy.filter { isAncestor($0.entity, of: entity) }.map(\.property)
    let derived = computed.lazy.filter {
      isAncestor($0.key, of: entity) || isAncestor(entity, of: $0.key)
    }
    return expression.mentions(Set(filled).union(derived.flatMap(\.value)))
  }

  /// The properties of the newer model that lose values or links that cannot be converted,
  /// qualified by the entities that declare them. A loss that is not named is an obstacle.
  package var lossy: Set<ModelDifference.Subject> {
    Set(difference.changes.lazy.filter { $0.loss != nil }.compactMap(\.subject))
  }

  /// Whether the migration needs a pass over the objects, because changing the catalog is not
  /// enough.
  package var needsPass: Bool { !anew.isEmpty || !computed.isEmpty }

  /// Returns the newer model with renaming identifiers for the given renames.
  private static func marked(
    _ target: ManagedObjectModel, _ renames: [String: String], _ old: ManagedObjectModel
  ) -> ManagedObjectModel {
    var model = target
    for index in model.entities.indices {
      guard let former = renames.first(where: { $0.value == model.entities[index].name })?.key,
        let entity = old.entity(named: former)
      else { continue }
      model.entities[index].renamingIdentifier = entity.renamingIdentifier ?? former
    }
    return model
  }
}

/// Finds the properties that start empty and creates the models for them.
private struct AnewSearch {
  private var model: ManagedObjectModel
  private let old: ModelSchema
  private let difference: ModelDifference
  private let plans: [String: CatalogEvolution.Entity]
  private var subjects: Set<ModelDifference.Subject> = []
  private var sources: [ModelDifference.Subject: String] = [:]
  private(set) var computed: [String: [String]] = [:]

  init(
    _ model: ManagedObjectModel, _ old: ModelSchema, _ difference: ModelDifference,
    _ evolution: CatalogEvolution
  ) {
    self.model = model
    self.old = old
    self.difference = difference
    plans = Dictionary(uniqueKeysWithValues: evolution.entities.map { ($0.name, $0) })
    for change in difference.storedChanges where MigrationObstacle.isLaidOutAnew(change) {
      if case .composite = change.kind { continue }
      if case .relationship(.disinherited(let ancestor)) = change.kind {
        addRelationship(change.source?.property, of: ancestor)
        continue
      }
      if let entity = change.entity, let property = change.property {
        add(entity, property)
        if let subject = declaring(entity, property) {
          sources[subject] = change.source?.property ?? property
        }
      } else if let entity = change.source?.entity ?? change.entity {
        addRelationships(to: entity)
      }
    }
    for (subject, source) in difference.convertedComposites {
      subjects.insert(subject)
      sources[subject] = source
    }
    for entity in difference.old.entities where isGone(entity) {
      addRelationships(to: entity.name)
      addOneSidedRelationships(of: entity.name)
    }
    for plan in evolution.entities where !plan.computed.isEmpty {
      computed[plan.name] = plan.computed
    }
  }

  /// Adds a relationship that an entity of the older model declares. Some objects lose the
  /// relationship because their entity no longer inherits from that entity.
  private mutating func addRelationship(_ former: String?, of entity: String) {
    guard let plan = plans.values.first(where: { $0.oldName == entity }) else { return }
    for (name, source) in plan.relationships where source == former { add(plan.name, name) }
  }

  mutating func add(_ obstacles: [MigrationObstacle]) {
    for obstacle in obstacles {
      if let entity = obstacle.entity, let property = obstacle.property { add(entity, property) }
    }
  }

  private mutating func add(_ entity: String, _ property: String) {
    if let subject = declaring(entity, property) { subjects.insert(subject) }
  }

  private func declaring(_ entity: String, _ property: String) -> ModelDifference.Subject? {
    guard let entity = model.entity(named: entity) else { return nil }
    let owner = model.lineage(of: entity).first { $0.declares(property) }
    return owner.map { ModelDifference.Subject($0.name, property) }
  }

  /// Returns whether the copy does not contain an entity's objects.
  private func isGone(_ entity: EntityDescription) -> Bool {
    guard !entity.isAbstract else { return false }
    let plan = plans.values.first { $0.oldName == entity.name }
    return plan.flatMap { model.entity(named: $0.name) }?.isAbstract ?? true
  }

  /// Adds the relationships whose destinations include an entity of the older model.
  private mutating func addRelationships(to name: String) {
    guard let entity = old.model.entity(named: name) else { return }
    let kinds = Set(old.model.lineage(of: entity).map(\.name))
    for plan in plans.values {
      for (new, former) in plan.relationships {
        let relationship = old.entity(named: plan.oldName)?.relationships.first {
          $0.name == former
        }
        if let relationship, kinds.contains(old.entities[relationship.destination].name) {
          add(plan.name, new)
        }
      }
    }
  }

  /// Adds the relationships that a removed entity inherits and whose inverse is not kept because it
  /// is hidden or replaced by another one. Their lists contain the removed objects.
  private mutating func addOneSidedRelationships(of name: String) {
    guard let gone = old.entity(named: name) else { return }
    for plan in plans.values {
      for (new, former) in plan.relationships {
        let relationship = old.entity(named: plan.oldName)?.relationships.first {
          $0.name == former
        }
        guard let relationship, gone.own(relationship)?.name == former,
          !isKept(old.inverse(of: relationship))
        else { continue }
        add(plan.name, new)
      }
    }
  }

  /// Returns whether the newer model has a relationship of the older one, under any name.
  private func isKept(_ relationship: RelationshipSchema) -> Bool {
    plans.values.contains { plan in
      plan.relationships.values.contains(relationship.name)
        && old.entity(named: plan.oldName)?.own(relationship) != nil
    }
  }

  /// Adds dependent properties: inverses and derived attributes.
  mutating func close() {
    var count = -1
    while count != subjects.count {
      count = subjects.count
      for entity in model.entities {
        for relationship in entity.relationships
        where subjects.contains(ModelDifference.Subject(entity.name, relationship.name)) {
          if let inverse = relationship.inverse { add(relationship.destination, inverse) }
        }
        let names = Set(subjects.compactMap(\.property))
        for attribute in entity.attributes {
          guard let derivation = attribute.derivation, derivation.mentions(names) else { continue }
          subjects.insert(ModelDifference.Subject(entity.name, attribute.name))
        }
      }
    }
    for entity in model.entities {
      let derived = entity.attributes.filter {
        $0.derivation != nil && !$0.isTransient
          && subjects.contains(ModelDifference.Subject(entity.name, $0.name))
      }
      guard !derived.isEmpty else { continue }
      computed[entity.name, default: []] += derived.map(\.name)
    }
  }

  /// Adds the properties that the bridge would pair with other sources than the newer model does,
  /// because names and identifiers pair them once it lacks the properties that start empty.
  ///
  /// - Returns: Whether there are any.
  mutating func addMistaken(via versions: [ManagedObjectModel]) -> Bool {
    if isEmpty { return false }
    let origins = difference.origins
    let found = old.model.difference(to: bridge(relaxed()), via: versions).origins
    let mistaken = found.filter { origins[$0.key] != $0.value }.keys
    for subject in mistaken {
      subjects.insert(subject)
      sources[subject] = origins[subject]?.compactMap(\.property).min()
    }
    return !mistaken.isEmpty
  }

  var isEmpty: Bool { subjects.isEmpty }

  var anew: [StagedModels.Anew] {
    model.entities.flatMap { entity in
      let attributes = entity.attributes.filter { $0.derivation == nil }.map { ($0.name, false) }
      let relationships = entity.relationships.map { ($0.name, true) }
      return (attributes + relationships).compactMap { name, isRelationship -> StagedModels.Anew? in
        let subject = ModelDifference.Subject(entity.name, name)
        guard subjects.contains(subject) else { return nil }
        return StagedModels.Anew(
          entity: entity.name, property: name,
          source: sources[subject], isRelationship: isRelationship)
      }
    }
  }

  // MARK: Models

  /// Creates the model without rules that existing objects may violate.
  func relaxed() -> ManagedObjectModel {
    var model = model
    model.fetchRequestTemplates = []
    var optional = subjects
    for plan in plans.values {
      for name in plan.missing + plan.required.map(\.name) {
        if let subject = declaring(plan.name, name) { optional.insert(subject) }
      }
    }
    var reshaped: Set<ModelDifference.Subject> = []
    for change in difference.changes {
      switch change.rule {
      case .mandatory, .minimumCount, .maximumCount:
        if let subject = change.subject { optional.insert(subject) }
      case .valuesFit(.json): if let subject = change.subject { reshaped.insert(subject) }
      default: break
      }
    }
    for index in model.entities.indices {
      let name = model.entities[index].name
      model.entities[index].fetchedProperties = []
      // Until the values of objects are restored, many of them share the default.
      model.entities[index].omitUniqueness { isMade(name, ofAnew: $0) }
      // A new entity may have old objects if it is the new parent of existing entities.
      model.entities[index].relax { optional.contains(ModelDifference.Subject(name, $0)) }
      for slot in model.entities[index].attributes.indices {
        let subject = ModelDifference.Subject(name, model.entities[index].attributes[slot].name)
        if reshaped.contains(subject) { model.entities[index].attributes[slot].shape = nil }
      }
      guard plans[name] != nil else { continue }
      for change in difference.changes where change.entity == name {
        guard case .index(let kind) = change.kind else { continue }
        model.entities[index].omit(kind, mayBreak: change.rule != nil)
      }
    }
    return model
  }

  /// Creates the model without the properties that start empty.
  func bridge(_ relaxed: ManagedObjectModel) -> ManagedObjectModel {
    var model = relaxed
    let names = Set(subjects.compactMap(\.property))
    for index in model.entities.indices {
      let entity = model.entities[index].name
      func isAnew(_ name: String) -> Bool {
        subjects.contains(ModelDifference.Subject(entity, name))
      }
      model.entities[index].attributes.removeAll { isAnew($0.name) }
      model.entities[index].relationships.removeAll { isAnew($0.name) }
      model.entities[index].fetchIndexes.removeAll { fetchIndex in
        fetchIndex.partialIndexPredicate?.mentions(names) ?? false
          || fetchIndex.elements.contains { $0.property.mentions(names) }
      }
    }
    return model
  }

  /// Returns whether a column or a condition of an index depends on properties that start empty.
  private func isMade(_ entity: String, ofAnew expression: String) -> Bool {
    subjects.contains { subject in
      guard let property = subject.property, expression.mentions([property]) else { return false }
      return declaring(entity, property) == subject
    }
  }
}

extension String {
  /// Returns whether an expression contains one of the given names as a word.
  fileprivate func mentions(_ names: Set<String>) -> Bool {
    split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { names.contains(String($0)) }
  }
}

extension EntityDescription {
  fileprivate func declares(_ property: String) -> Bool {
    attributes.contains { $0.name == property } || relationships.contains { $0.name == property }
  }

  fileprivate mutating func relax(_ isMeant: (String) -> Bool) {
    for index in attributes.indices where isMeant(attributes[index].name) {
      if attributes[index].defaultValue.isNull { attributes[index].isOptional = true }
    }
    for index in relationships.indices where isMeant(relationships[index].name) {
      relationships[index].isOptional = true
      relationships[index].minimumCount = 0
      relationships[index].maximumCount = 0
    }
  }

  /// Omits the unique indexes with a matching column or condition, which are filled and checked at
  /// the end.
  fileprivate mutating func omitUniqueness(_ isMeant: (String) -> Bool) {
    uniquenessConstraints.removeAll { $0.contains(where: isMeant) }
    fetchIndexes.removeAll { index in
      index.isUnique
        && (index.partialIndexPredicate.map(isMeant) ?? false
          || index.elements.contains { isMeant($0.property) })
    }
  }

  /// Omits an index that is filled at the end, when its properties have their values.
  ///
  /// - Parameter mayBreak: Whether objects may share values that they did not share before.
  fileprivate mutating func omit(_ change: ModelDifference.IndexChange, mayBreak: Bool) {
    switch change {
    case .added(let index), .changed(_, let index): fetchIndexes.removeAll { $0.name == index.name }
    case .uniquenessAdded(let properties), .uniquenessReordered(_, let properties):
      uniquenessConstraints.removeAll { $0 == properties }
    case .refilled(let name) where mayBreak:
      fetchIndexes.removeAll { $0.name == name }
      uniquenessConstraints.removeAll { $0.joined(separator: "+") == name }
    default: break
    }
  }
}
