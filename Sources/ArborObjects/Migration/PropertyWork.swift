internal import ArborModel
internal import ArborStore

/// The properties that a pass fills for the objects of one entity of the older model.
struct PropertyWork {
  struct Attribute {
    let name: String
    /// The name in the older model.
    let source: String
    let type: AttributeType
    /// The conversion of the parts, or `nil` if the attribute isn't composite in both models.
    let parts: CompositeConversion?
    /// Whether `nil` is kept. Otherwise it is replaced by the default.
    let isOptional: Bool

    /// Returns a value of the older model converted to the newer one, or `nil` if it doesn't fit.
    ///
    /// - Parameter report: A closure that is called with a description of what doesn't fit.
    func converted(_ value: PropertyValue, _ report: (_ what: String) -> Void) -> PropertyValue? {
      if let parts { return parts.converted(value, at: source, report) }
      guard let fitting = type.exactly(value) else {
        report("a value that \(type) cannot hold")
        return nil
      }
      return fitting
    }
  }

  struct Relationship {
    let name: String
    /// The name in the older model.
    let source: String
    /// The relationship, qualified by the entity that declares it.
    let subject: ModelDifference.Subject
    let inverse: Inverse?
    let isToMany: Bool
    let wasToMany: Bool
    /// Whether links that do not fit are dropped.
    let isLossy: Bool
    /// The entities of the newer model that members may belong to.
    let kinds: Set<String>
    /// The new names of the older model's entities whose objects are in the copy, keyed by old
    /// name.
    let newNames: [String: String]

    struct Inverse {
      let subject: ModelDifference.Subject
      let isToMany: Bool
    }

    func members(of old: ManagedObject) throws(ArborError) -> [ManagedObject] {
      if wasToMany { return try old.objects(forKey: source).fetch() }
      return try old.object(forKey: source).map { [$0] } ?? []
    }

    /// Returns the members that the newer model allows.
    func keptMembers(of old: ManagedObject) throws(ArborError) -> [ManagedObject] {
      try members(of: old).filter { member in
        newNames[member.objectID.entityName].map(kinds.contains) ?? false
      }
    }
  }

  let former: EntitySchema
  private(set) var attributes: [Attribute] = []
  private(set) var relationships: [Relationship] = []
  /// Whether derived attributes have to be recomputed.
  private(set) var isDerived = false

  /// Returns the work for each entity of the older model that needs a pass.
  static func all(_ models: StagedModels, _ old: ModelSchema) -> [PropertyWork] {
    guard models.needsPass else { return [] }
    let (kept, lossy) = (models.keptNames, models.lossy)
    return old.concreteEntities.compactMap { former in
      kept[former.name].flatMap { PropertyWork(former, $0, models, kept, lossy) }
    }
  }

  private init?(
    _ former: EntitySchema, _ name: String, _ models: StagedModels, _ kept: [String: String],
    _ lossy: Set<ModelDifference.Subject>
  ) {
    self.former = former
    let model = models.relaxed
    guard let description = model.entity(named: name) else { return nil }
    for entity in model.lineage(of: description) {
      if models.computed[entity.name] != nil { isDerived = true }
      for anew in models.anew where anew.entity == entity.name {
        if let attribute = entity.attributes.first(where: { $0.name == anew.property }) {
          guard let source = anew.source, let before = former.property(named: source) else {
            continue
          }
          attributes.append(
            Attribute(
              name: anew.property, source: source, type: attribute.type,
              parts: models.conversion(from: before, to: attribute),
              isOptional: attribute.isOptional))
        }
        guard let relationship = entity.relationships.first(where: { $0.name == anew.property }),
          !relationship.isTransient, let source = models.relationshipSources[name]?[anew.property],
          case .relationship(let before) = former.property(named: source),
          !before.description.isTransient
        else { continue }
        let subject = ModelDifference.Subject(entity.name, anew.property)
        relationships.append(
          Relationship(
            name: anew.property, source: source, subject: subject,
            inverse: model.inverse(of: relationship), isToMany: relationship.isToMany,
            wasToMany: before.isToMany, isLossy: lossy.contains(subject),
            kinds: model.kinds(of: relationship.destination), newNames: kept))
      }
    }
    if attributes.isEmpty, relationships.isEmpty, !isDerived { return nil }
  }

  /// Reports the values and links of an object that do not fit the newer model.
  func check(
    _ old: ManagedObject, _ report: (_ property: String, _ what: String) -> Void
  ) throws(ArborError) {
    for attribute in attributes {
      let value = try old.value(forKey: attribute.source)
      if !value.isNull { _ = attribute.converted(value) { report(attribute.source, $0) } }
    }
    for relationship in relationships where relationship.wasToMany || !relationship.kinds.isEmpty {
      let members = try relationship.members(of: old).compactMap {
        relationship.newNames[$0.objectID.entityName]
      }
      let fitting = members.filter(relationship.kinds.contains)
      if fitting.count < members.count, !relationship.isLossy {
        report(relationship.source, "members of an entity that \(relationship.name) doesn't accept")
      }
      if !relationship.isToMany, fitting.count > 1 {
        report(relationship.source, "more than one member")
      }
    }
  }
}

extension ManagedObjectModel {
  /// Returns the inverse of a relationship, qualified by the entity that declares it, or `nil` if
  /// there isn't one.
  fileprivate func inverse(
    of relationship: RelationshipDescription
  ) -> PropertyWork.Relationship.Inverse? {
    guard let name = relationship.inverse,
      let destination = entity(named: relationship.destination)
    else { return nil }
    for entity in lineage(of: destination) {
      guard let inverse = entity.relationships.first(where: { $0.name == name }) else { continue }
      return PropertyWork.Relationship.Inverse(
        subject: ModelDifference.Subject(entity.name, name), isToMany: inverse.isToMany)
    }
    return nil
  }
}

extension StagedModels {
  /// Returns the conversion of an attribute's parts, or `nil` if it isn't composite in both models.
  fileprivate func conversion(
    from former: PropertySchema, to attribute: AttributeDescription
  ) -> CompositeConversion? {
    guard case .attribute(let former) = former,
      case (.composite(let before), .composite(let after)) = (
        former.description.type, attribute.type
      )
    else { return nil }
    return CompositeConversion(from: before, of: difference.old, to: after, of: difference.new)
  }

  /// Returns the name in the older model of an entity of the newer model, or `nil` for a new
  /// entity.
  func formerName(of name: String) -> String? { newNames.first { $0.value == name }?.key }

  /// The new names of the entities whose objects are in the copy, keyed by former name.
  var keptNames: [String: String] {
    newNames.filter { relaxed.entity(named: $0.value).map { !$0.isAbstract } ?? false }
  }
}
