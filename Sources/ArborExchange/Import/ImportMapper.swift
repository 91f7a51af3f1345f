import ArborModel
import Logging

/// Compiles the mappings of an import from annotations in the model's `userInfo`, once for all
/// batches.
///
/// | key | on | meaning |
/// |---|---|---|
/// | `PrimaryAttribute`, `PrimaryKey`, `relatedByAttribute` | entity | the objects' identity |
/// | `ImportEntityKey` | entity | the path of the value that chooses a subentity |
/// | `ImportEntityName` | entity | the values that choose the entity; by default its name |
/// | `ImportName`, `mappedKeyName`, `externalName` | property | the path of its value |
/// | `DateFormat`, `dateFormat` | date attribute | the format of its strings |
/// | `NumberFormat`, `numberFormat` | number attribute | the locale of its strings |
/// | `MergePolicy` | relationship | the treatment of existing members |
/// | `ImportReference` | relationship | the key of its target; see ``ReferenceTemplate`` |
/// | `ImportMissingReference` | relationship | `Create`: an unknown key inserts a target |
///
/// An identity is a list of names: attributes, and optionally a to-one relationship within whose
/// target their values are unique. Without the relationship, attributes identify objects in the
/// whole store, unless a uniqueness constraint of the model combines them with a to-one
/// relationship.
final class ImportMapper {
  private static let logger = Logger(label: "ArborData.import")

  private let schema: ModelSchema
  private let options: ImportOptions
  private let textRules: TextRules
  /// The compiled mappings, by entity index.
  private var mappings: [ExchangeMapping?]
  /// The compiled mappings of subentities that items choose, by the indexes of the entity of the
  /// list or relationship and of the subentity.
  private var chosenMappings: [[Int]: ExchangeMapping] = [:]
  /// The entity whose items receive their keys in the document, and the name of these.
  private var suppliedKey: (entity: EntitySchema, name: String)?

  init(_ schema: ModelSchema, _ options: ImportOptions) {
    self.schema = schema
    self.options = options
    textRules = TextRules(
      dateFormat: options.dateFormat, timeZone: options.timeZone, acceptsNumbers: true,
      numberFormat: options.numberFormat, conversions: options.conversions)
    mappings = Array(repeating: nil, count: schema.entities.count)
  }

  /// Returns the mapping of the entity of the outermost items.
  ///
  /// - Throws: ``ArborError`` `unknownName` if the layout supplies the items with their keys and no
  ///   property is read from these; otherwise the same errors as ``mapping(for:)``.
  func outermostMapping(for entity: EntitySchema) throws(ArborError) -> ExchangeMapping {
    if let name = options.layout.itemKey { suppliedKey = (entity, name) }
    return try mapping(for: entity)
  }

  /// Returns the mapping of an entity.
  ///
  /// - Throws: ``ArborError`` `invalidModel` if an annotation refers to a name that isn't in the
  ///   model.
  func mapping(for entity: EntitySchema) throws(ArborError) -> ExchangeMapping {
    if let mapping = mappings[entity.index] { return mapping }
    let mapping = try makeMapping(for: entity, chosenAmong: entity)
    mappings[entity.index] = mapping
    return mapping
  }

  /// Returns the mapping of an entity for items of a list or relationship of one of its ancestors.
  ///
  /// - Throws: The same errors as ``mapping(for:)``.
  func mapping(
    for entity: EntitySchema, chosenAmong ancestor: EntitySchema
  ) throws(ArborError) -> ExchangeMapping {
    if entity === ancestor { return try mapping(for: entity) }
    let key = [ancestor.index, entity.index]
    if let mapping = chosenMappings[key] { return mapping }
    let mapping = try makeMapping(for: entity, chosenAmong: ancestor)
    chosenMappings[key] = mapping
    return mapping
  }

  private func makeMapping(
    for entity: EntitySchema, chosenAmong ancestor: EntitySchema
  ) throws(ArborError) -> ExchangeMapping {
    let common = try identity(of: ancestor)
    let identity = common == nil ? try identity(of: entity) : common
    let attributes = try entity.attributes.filter { $0.description.derivation == nil }
      .map { (attribute) throws(ArborError) in
        MappedAttribute(
          try AttributeCoder(attribute, of: entity, in: schema.model, textRules),
          routes: Self.routes(attribute.name, attribute.description.userInfo),
          isNamed: Self.importName(in: attribute.description.userInfo) != nil,
          identifies: identity?.slots.contains(attribute.slot) == true)
      }
    var relationships: [MappedRelationship] = []
    for relationship in entity.relationships where !relationship.isHidden {
      relationships.append(try self.relationship(relationship, of: entity, identity))
    }
    var rules = ExchangeRules()
    rules.lastOfEqualsWins = true
    rules.skipsNullMembers = true
    rules.callsHooks = true
    let mapping = ExchangeMapping(
      entity, attributes: attributes, relationships: relationships, identity: identity,
      listedAs: ancestor, identifiedAmong: common == nil ? entity : ancestor,
      choice: entity === ancestor ? choice(among: entity) : nil, rules: rules)
    if let suppliedKey, suppliedKey.entity === ancestor {
      try mapping.scanner.supply(suppliedKey.name)
    }
    return mapping
  }

  /// Returns the choice of a subentity for items of an entity, or `nil` if all items belong to the
  /// entity itself. Objects of an abstract entity cannot be inserted, so that a note is not
  /// required for it.
  private func choice(among entity: EntitySchema) -> SubentityChoice? {
    let kinds = entity.concreteFamily.map { schema.entities[$0] }
    let note = entity.lineage.lazy.compactMap {
      self.schema.entities[$0].description.userInfo["ImportEntityKey"]
    }.first
    guard kinds.contains(where: { $0 !== entity }), note != nil || entity.isAbstract else {
      return nil
    }
    var entities: [String: EntitySchema] = [:]
    for kind in kinds {
      let words = kind.description.userInfo["ImportEntityName"] ?? kind.name
      for word in words.split(separator: ",") { entities[String(word.trimmingSpace)] = kind }
    }
    return SubentityChoice(
      entity: entity, routes: ItemRoute.alternatives(note ?? "type"), entities: entities,
      isStrict: note != nil
    ) { [unowned self] chosen throws(ArborError) in
      chosen === entity ? nil : try self.mapping(for: chosen, chosenAmong: entity)
    }
  }

  /// The mappings of entities for which items were read.
  var usedMappings: [ExchangeMapping] {
    (mappings.compactMap { $0 } + chosenMappings.values).filter(\.scanner.isUsed)
      .sorted { $0.entity.name < $1.entity.name }
  }

  private func relationship(
    _ relationship: RelationshipSchema, of entity: EntitySchema, _ identity: ExchangeIdentity?
  ) throws(ArborError) -> MappedRelationship {
    let userInfo = relationship.description.userInfo
    let reference = try reference(relationship, of: entity)
    let destination = schema.entities[relationship.destination]
    return MappedRelationship(
      relationship, of: entity, in: schema,
      routes: Self.routes(relationship.name, userInfo),
      isNamed: reference == nil && Self.importName(in: userInfo) != nil,
      // An identifying target is not replaced.
      policy: identity?.parent?.slot == relationship.slot
        ? .merge : policy(of: relationship, entity),
      reference: reference
    ) { [unowned self] _, _ throws(ArborError) in
      try self.mapping(for: destination)
    }
  }

  /// Returns the reference by which a relationship's targets are identified, or `nil` if it has no
  /// annotation.
  private func reference(
    _ relationship: RelationshipSchema, of entity: EntitySchema
  ) throws(ArborError) -> ItemReference? {
    guard let note = relationship.description.userInfo["ImportReference"] else { return nil }
    let destination = schema.entities[relationship.destination]
    guard let template = try ReferenceTemplate(note), let identity = try identity(of: destination),
      identity.slots.count == 1, identity.parent == nil
    else {
      throw ArborError(
        .invalidModel,
        "The ImportReference of \(entity.name).\(relationship.name) doesn't name a key of "
          + "\(destination.name), or \(destination.name) is not identified by a single attribute. "
          + "Write names in braces, such as {\(relationship.name)}, and set the PrimaryAttribute."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    let attribute = try AttributeCoder(
      destination.attributes[identity.slots[0]], of: destination, in: schema.model, textRules)
    return ItemReference(
      template, to: destination, by: attribute,
      createsMissing: createsMissing(relationship, entity))
  }

  private func createsMissing(
    _ relationship: RelationshipSchema, _ entity: EntitySchema
  ) -> Bool {
    switch relationship.description.userInfo["ImportMissingReference"] {
    case nil: return false
    case "Create": return true
    case let word?:
      Self.logger.warning(
        """
        “\(word)” is not a valid ImportMissingReference, so a missing object is an error. Use \
        Create.
        """,
        metadata: [
          "entity": "\(entity.name)", "relationship": "\(relationship.name)", "word": "\(word)",
        ])
      return false
    }
  }

  /// Returns the identity of an entity's objects: the noted one, otherwise the attribute with the
  /// default name.
  private func identity(of entity: EntitySchema) throws(ArborError) -> ExchangeIdentity? {
    guard var identity = try declaredIdentity(of: entity) else { return nil }
    if identity.parent == nil { identity.parent = Self.uniqueParent(identity.slots, entity) }
    return identity
  }

  private func declaredIdentity(
    of entity: EntitySchema
  ) throws(ArborError) -> ExchangeIdentity? {
    let lineage = entity.lineage.map { schema.entities[$0] }
    for ancestor in lineage {
      guard
        let note = Self.note(
          ["PrimaryAttribute", "PrimaryKey", "relatedByAttribute"],
          in: ancestor.description.userInfo)
      else { continue }
      var identity = ExchangeIdentity()
      for name in note.split(separator: ",").map({ String($0.trimmingSpace) }) {
        switch entity.property(named: name) {
        case .attribute(let attribute): identity.slots.append(attribute.slot)
        case .relationship(let relationship)
        where !relationship.isToMany && identity.parent == nil:
          identity.parent = relationship
        case .relationship:
          throw ArborError(
            .invalidModel,
            "The userInfo of \(ancestor.name) lists the relationship \(name) in its primary "
              + "attribute, but it is to-many or not the only relationship. List attributes and "
              + "at most one to-one relationship."
          ).with(entity: ancestor.name, keyPath: name)
        case nil:
          throw ArborError(
            .invalidModel,
            "The userInfo of \(ancestor.name) lists \(name) as its primary attribute, which "
              + "doesn't exist. List an attribute of the entity."
              + NearestName.hint(name, in: entity.propertyNames)
          ).with(entity: ancestor.name, keyPath: name)
        }
      }
      return identity
    }
    for ancestor in lineage {
      let name = ancestor.name.prefix(1).lowercased() + ancestor.name.dropFirst() + "ID"
      if let attribute = entity.attributes.first(where: { $0.name == name }) {
        return ExchangeIdentity(slots: [attribute.slot])
      }
    }
    return nil
  }

  /// Returns the to-one relationship within whose target the model declares the attributes as
  /// unique, or `nil` if they are unique in the whole store or the model doesn't specify it.
  private static func uniqueParent(
    _ slots: [Int], _ entity: EntitySchema
  ) -> RelationshipSchema? {
    let attributes = Set(slots.map { IndexSchema.Column.Source.attribute($0) })
    var parents: Set<IndexSchema.Column.Source> = []
    for index in entity.indexes where index.isUnique && index.condition == nil {
      let others = Set(index.columns.map(\.source)).subtracting(attributes)
      if others.isEmpty { return nil }
      if others.count == 1 { parents.formUnion(others) }
    }
    guard parents.count == 1, case .toOne(let slot)? = parents.first else { return nil }
    return entity.relationships[slot]
  }

  /// Returns the paths at which a property's value is looked up. Defaults to the property's name.
  private static func routes(_ name: String, _ userInfo: [String: String]) -> [ItemRoute] {
    let routes = importName(in: userInfo).map(ItemRoute.alternatives) ?? []
    return routes.isEmpty ? [ItemRoute([.key(name)])] : routes
  }

  private static func importName(in userInfo: [String: String]) -> String? {
    note(["ImportName", "mappedKeyName", "externalName"], in: userInfo)
  }

  private func policy(
    of relationship: RelationshipSchema, _ entity: EntitySchema
  ) -> MembershipPolicy {
    let word = relationship.description.userInfo["MergePolicy"]
    let named = word.flatMap(ImportMergePolicy.init)
    if let word, named == nil {
      Self.logger.warning(
        """
        “\(word)” is not a valid MergePolicy, so the import's is used. Use Replace, Merge or \
        MergeAndPrune.
        """,
        metadata: [
          "entity": "\(entity.name)", "relationship": "\(relationship.name)", "policy": "\(word)",
        ])
    }
    switch named ?? options.defaultMergePolicy {
    case .replace: return .replace
    case .merge: return .merge
    case .mergeAndPrune: return .mergeAndPrune
    }
  }

  private static func note(_ keys: [String], in userInfo: [String: String]) -> String? {
    keys.lazy.compactMap { userInfo[$0] }.first
  }
}
