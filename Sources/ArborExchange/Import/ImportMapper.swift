import ArborJSON
import ArborModel
import ArborObjects
import Logging

/// Makes mappings of what the model's `userInfo` says.
///
/// | key | on | meaning |
/// |---|---|---|
/// | `PrimaryAttribute`, `PrimaryKey`, `relatedByAttribute` | entity | identifies its objects: names
/// of attributes, and of a to-one relationship to the object within which they differ |
/// | `ImportName`, `mappedKeyName`, `externalName` | property | where its value stands |
/// | `DateFormat`, `dateFormat` | date attribute | how its text is read |
/// | `NumberFormat`, `numberFormat` | number attribute | the locale in which its texts are read |
/// | `MergePolicy` | relationship | what becomes of present members |
/// | `ImportReference` | relationship | the key of its object; see ``ReferenceTemplate`` |
/// | `ImportMissingReference` | relationship | `Create`: a key that no object has makes one |
final class ImportMapper {
  private static let logger = Logger(label: "ArborData.import")

  private let context: ManagedObjectContext
  private let schema: ExchangeSchema
  private let identities: IdentityMap
  private let attributes: AttributeReader
  private let options: ImportOptions
  private var mappings: [String: ItemMapping] = [:]
  /// Receives what the import leaves out; nil: that is an error.
  let drops: ImportDrops?

  init(_ context: ManagedObjectContext, _ identities: IdentityMap, _ options: ImportOptions) {
    self.context = context
    let rules = TextRules(
      dateFormat: options.dateFormat, timeZone: options.timeZone, acceptsNumbers: true,
      numberFormat: options.numberFormat, conversions: options.conversions)
    drops = options.lenient ? ImportDrops() : nil
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
    let identity = try identity(of: entity)
    var attributes: [ItemAttribute] = []
    var relationships: [ItemRelationship] = []
    var indexes: [ObjectIdentifier: Int] = [:]
    for property in entity.properties {
      switch property {
      case .attribute(let attribute) where attribute.isDerived: break
      case .attribute(let attribute):
        indexes[ObjectIdentifier(attribute)] = attributes.count
        attributes.append(try self.attribute(attribute, of: entity, identity))
      case .relationship(let relationship):
        relationships.append(try self.relationship(relationship, of: entity, identity))
      }
    }
    var rules = ItemRules()
    rules.lastOfEqualsWins = true
    rules.skipsNullMembers = true
    rules.callsHooks = true
    rules.drops = drops
    let mapping = ItemMapping(
      entity, attributes: attributes, relationships: relationships,
      identity: identity?.attributes.compactMap { indexes[ObjectIdentifier($0)] } ?? [],
      table: identity.map {
        identities.table(for: entity, by: $0.attributes, under: $0.parent)
      }, rules: rules)
    mappings[name] = mapping
    return mapping
  }

  /// The mappings that were asked for.
  var usedMappings: [ItemMapping] {
    mappings.values.filter(\.isUsed).sorted { $0.entity.name < $1.entity.name }
  }

  private func attribute(
    _ attribute: ExchangeAttribute, of entity: ExchangeEntity, _ identity: Identity?
  ) throws(ArborError) -> ItemAttribute {
    let isPart = identity?.attributes.contains { $0 === attribute } == true
    // What a conversion changes is not as the document has it.
    let isPlain =
      attribute.type != .string || !attribute.conversions.contains(.emptyTextIsNull)
    return ItemAttribute(
      attribute, at: try attribute.slots(in: context),
      routes: Self.routes(attribute.name, attribute.userInfo),
      isNamed: Self.importName(in: attribute.userInfo) != nil, takesPlainValues: isPlain,
      read: reader(of: attribute, entity, identifies: isPart))
  }

  private func relationship(
    _ relationship: ExchangeRelationship, of entity: ExchangeEntity, _ identity: Identity?
  ) throws(ArborError) -> ItemRelationship {
    let reference = try reference(relationship, of: entity)
    return ItemRelationship(
      relationship, at: try relationship.slots(in: context),
      routes: Self.routes(relationship.name, relationship.userInfo),
      isNamed: reference == nil && Self.importName(in: relationship.userInfo) != nil,
      // What identifies an object is not replaced.
      policy: identity?.parent === relationship ? .merge : policy(of: relationship, entity),
      reference: reference
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
      let identity = try identity(of: destination), identity.attributes.count == 1,
      identity.parent == nil
    else {
      throw ArborError(
        .invalidModel,
        "The ImportReference of \(entity.name).\(relationship.name) names no key of "
          + "\(destination.name), or \(destination.name) is not identified by a single attribute; "
          + "write names in braces, as {\(relationship.name)}, and note the PrimaryAttribute."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    return ItemReference(
      template, identities.table(for: destination, by: identity.attributes), attributes,
      createsMissing: createsMissing(relationship, entity))
  }

  private func createsMissing(
    _ relationship: ExchangeRelationship, _ entity: ExchangeEntity
  ) -> Bool {
    switch relationship.userInfo["ImportMissingReference"] {
    case nil: return false
    case "Create": return true
    case let word?:
      Self.logger.warning(
        "Unknown ImportMissingReference; a missing object is an error. Write Create.",
        metadata: [
          "entity": "\(entity.name)", "relationship": "\(relationship.name)", "word": "\(word)",
        ])
      return false
    }
  }

  /// What tells the objects of an entity apart.
  private struct Identity {
    var attributes: [ExchangeAttribute] = []
    /// The relationship to the object within which they differ.
    var parent: ExchangeRelationship?
  }

  private func identity(of entity: ExchangeEntity) throws(ArborError) -> Identity? {
    for ancestor in entity.lineage {
      guard
        let note = Self.note(
          ["PrimaryAttribute", "PrimaryKey", "relatedByAttribute"], in: ancestor.userInfo)
      else { continue }
      var identity = Identity()
      for name in note.split(separator: ",").map({ String($0.trimmingSpace) }) {
        switch entity.property(named: name) {
        case .attribute(let attribute): identity.attributes.append(attribute)
        case .relationship(let relationship)
        where !relationship.isToMany && identity.parent == nil:
          identity.parent = relationship
        case .relationship:
          throw ArborError(
            .invalidModel,
            "The userInfo of \(ancestor.name) names \(name) in its primary attribute. Name "
              + "attributes, and at most one to-one relationship."
          ).with(entity: ancestor.name, keyPath: name)
        case nil:
          throw ArborError(
            .invalidModel,
            "The userInfo of \(ancestor.name) names \(name) in its primary attribute, and there is "
              + "none; name an attribute of the entity."
              + NearestName.hint(name, in: entity.propertyNames)
          ).with(entity: ancestor.name, keyPath: name)
        }
      }
      return identity
    }
    for ancestor in entity.lineage {
      let name = ancestor.name.prefix(1).lowercased() + ancestor.name.dropFirst() + "ID"
      if let attribute = entity.attribute(named: name) { return Identity(attributes: [attribute]) }
    }
    return nil
  }

  /// - Parameter identifies: Whether the attribute is a part of the identity; an item in which it
  ///   cannot be read lacks its identity.
  private func reader(
    of attribute: ExchangeAttribute, _ entity: ExchangeEntity, identifies: Bool
  ) -> (JSONNode) throws(ArborError) -> Value {
    let attributes = attributes
    let name = entity.name
    let drops = drops
    return { node throws(ArborError) in
      if identifies, let key = attributes.key(node, for: attribute) { return key }
      guard let drops else { return try attributes.value(node, for: attribute, of: name) }
      if attributes.isComposite(node, attribute) {
        do throws(ArborError) { return try attributes.value(node, for: attribute, of: name) } catch
        {
          drops.add { error }
          return .null
        }
      }
      if let value = attributes.plainValue(node, for: attribute) { return value }
      if !identifies {
        drops.add { attributes.problem(node, with: attribute, of: name) }
      }
      return .null
    }
  }

  /// What a note says of where a property's value stands; by default under its own name.
  private static func routes(_ name: String, _ userInfo: [String: String]) -> [ItemRoute] {
    let routes = importName(in: userInfo).map(ItemRoute.alternatives) ?? []
    return routes.isEmpty ? [ItemRoute([.key(name)])] : routes
  }

  private static func importName(in userInfo: [String: String]) -> String? {
    note(["ImportName", "mappedKeyName", "externalName"], in: userInfo)
  }

  private func policy(
    of relationship: ExchangeRelationship, _ entity: ExchangeEntity
  ) -> MembershipPolicy {
    let word = relationship.userInfo["MergePolicy"]
    let named = word.flatMap(ImportMergePolicy.init)
    if let word, named == nil {
      Self.logger.warning(
        "Unknown MergePolicy; that of the import is used. Write Replace, Merge or MergeAndPrune.",
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
