import ArborJSON
import ArborModel
import ArborObjects
import Logging

/// Makes mappings of what the model's `userInfo` says.
///
/// | key | on | meaning |
/// |---|---|---|
/// | `PrimaryAttribute`, `PrimaryKey`, `relatedByAttribute` | entity | identifies its objects |
/// | `ImportName`, `mappedKeyName`, `externalName` | property | where its value stands |
/// | `DateFormat`, `dateFormat` | date attribute | how its text is read |
/// | `NumberFormat`, `numberFormat` | number attribute | the locale in which its texts are read |
/// | `MergePolicy` | relationship | what becomes of present members |
/// | `ImportReference` | relationship | the key of its object; see ``ReferenceTemplate`` |
final class ImportMapper {
  private static let logger = Logger(label: "ArborData.import")

  private let context: ManagedObjectContext
  private let schema: ExchangeSchema
  private let identities: IdentityMap
  private let attributes: AttributeReader
  private let options: ImportOptions
  private var mappings: [String: ItemMapping] = [:]

  init(_ context: ManagedObjectContext, _ identities: IdentityMap, _ options: ImportOptions) {
    self.context = context
    let rules = TextRules(
      dateFormat: options.dateFormat, timeZone: options.timeZone, acceptsNumbers: true,
      numberFormat: options.numberFormat)
    schema = ExchangeSchema(context.store.model, rules: rules)
    self.identities = identities
    attributes = AttributeReader(schema)
    self.options = options
  }

  /// The mapping of an entity.
  ///
  /// - Throws: ``ArborError`` `unknownName`; `invalidModel` where a note of the model names what it
  ///   lacks.
  func mapping(for name: String) throws(ArborError) -> ItemMapping {
    if let mapping = mappings[name] { return mapping }
    let entity = try schema.requireEntity(named: name)
    let primary = try primaryAttribute(of: entity)
    var attributes: [ItemAttribute] = []
    var relationships: [ItemRelationship] = []
    var identity: [Int] = []
    for property in entity.properties {
      switch property {
      case .attribute(let attribute) where attribute.isDerived: break
      case .attribute(let attribute):
        let isPrimary = attribute === primary
        if isPrimary { identity = [attributes.count] }
        attributes.append(
          ItemAttribute(
            attribute, at: try attribute.slots(in: context),
            routes: Self.routes(attribute.name, attribute.userInfo), takesPlainValues: true,
            read: reader(of: attribute, entity, isPrimary: isPrimary)))
      case .relationship(let relationship):
        relationships.append(try self.relationship(relationship, of: entity))
      }
    }
    var rules = ItemRules()
    rules.lastOfEqualsWins = true
    rules.callsHooks = true
    rules.isLenient = options.lenient
    let mapping = ItemMapping(
      entity, attributes: attributes, relationships: relationships, identity: identity,
      table: primary.map { identities.table(for: entity, by: [$0]) }, rules: rules)
    mappings[name] = mapping
    return mapping
  }

  private func relationship(
    _ relationship: ExchangeRelationship, of entity: ExchangeEntity
  ) throws(ArborError) -> ItemRelationship {
    ItemRelationship(
      relationship, at: try relationship.slots(in: context),
      routes: Self.routes(relationship.name, relationship.userInfo),
      policy: Self.policy(of: relationship, entity),
      reference: try reference(relationship, of: entity)
    ) { [unowned self] _, _ throws(ArborError) in
      try self.mapping(for: relationship.destination)
    }
  }

  /// How a relationship's objects are named by keys; nil where the model does not say it.
  private func reference(
    _ relationship: ExchangeRelationship, of entity: ExchangeEntity
  ) throws(ArborError) -> ItemReference? {
    guard let note = relationship.userInfo["ImportReference"] else { return nil }
    let destination = try schema.requireEntity(named: relationship.destination)
    guard let template = ReferenceTemplate(note),
      let identity = try primaryAttribute(of: destination)
    else {
      throw ArborError(
        .invalidModel,
        "The ImportReference of \(entity.name).\(relationship.name) names no key of "
          + "\(destination.name), or \(destination.name) has no primary attribute; write names in "
          + "braces, as {\(relationship.name)}, and note the PrimaryAttribute."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    return ItemReference(template, identities.table(for: destination, by: [identity]), attributes)
  }

  private func primaryAttribute(of entity: ExchangeEntity) throws(ArborError) -> ExchangeAttribute?
  {
    for ancestor in entity.lineage {
      guard
        let name = Self.note(
          ["PrimaryAttribute", "PrimaryKey", "relatedByAttribute"], in: ancestor.userInfo)
      else { continue }
      guard let attribute = entity.attribute(named: name) else {
        throw ArborError(
          .invalidModel,
          "The userInfo of \(ancestor.name) names \(name) as its primary attribute, and there is "
            + "none; name an attribute of the entity."
            + NearestName.hint(name, in: entity.propertyNames)
        ).with(entity: ancestor.name, keyPath: name)
      }
      return attribute
    }
    for ancestor in entity.lineage {
      let name = ancestor.name.prefix(1).lowercased() + ancestor.name.dropFirst() + "ID"
      if let attribute = entity.attribute(named: name) { return attribute }
    }
    return nil
  }

  private func reader(
    of attribute: ExchangeAttribute, _ entity: ExchangeEntity, isPrimary: Bool
  ) -> (JSONNode) throws(ArborError) -> Value {
    let attributes = attributes
    let name = entity.name
    let isLenient = options.lenient
    return { node throws(ArborError) in
      do throws(ArborError) {
        if isPrimary, let key = attributes.key(node, for: attribute) { return key }
        return try attributes.value(node, for: attribute, of: name)
      } catch {
        guard isLenient else { throw error }
        return .null
      }
    }
  }

  /// What a note says of where a property's value stands; by default under its own name.
  private static func routes(_ name: String, _ userInfo: [String: String]) -> [ItemRoute] {
    let note = note(["ImportName", "mappedKeyName", "externalName"], in: userInfo)
    let routes = note.map(ItemRoute.alternatives) ?? []
    return routes.isEmpty ? [ItemRoute([.key(name)])] : routes
  }

  private static func policy(
    of relationship: ExchangeRelationship, _ entity: ExchangeEntity
  ) -> MembershipPolicy {
    switch relationship.userInfo["MergePolicy"] {
    case nil, "Replace": return .replace
    case "Merge": return .merge
    case "MergeAndPrune": return .mergeAndPrune
    case let word?:
      logger.warning(
        "Unknown MergePolicy; Replace is used. Write Replace, Merge or MergeAndPrune.",
        metadata: [
          "entity": "\(entity.name)", "relationship": "\(relationship.name)", "policy": "\(word)",
        ])
      return .replace
    }
  }

  private static func note(_ keys: [String], in userInfo: [String: String]) -> String? {
    keys.lazy.compactMap { userInfo[$0] }.first
  }
}
