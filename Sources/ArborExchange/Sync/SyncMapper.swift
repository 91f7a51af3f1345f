import ArborJSON
import ArborModel
import ArborObjects

/// Makes mappings of what serializers say.
final class SyncMapper {
  private let context: ManagedObjectContext
  private let schema: ExchangeSchema
  private let identities: IdentityMap
  private let attributes: AttributeReader
  /// Of serializers that can be told apart.
  private var mappings: [AnyHashable: ItemMapping] = [:]

  init(_ context: ManagedObjectContext, _ identities: IdentityMap) {
    self.context = context
    self.identities = identities
    schema = ExchangeSchema(context.store.model)
    attributes = AttributeReader(schema)
  }

  /// The mapping of a serializer.
  ///
  /// - Throws: ``ArborError`` `unknownName` where it names what the model lacks, `invalidArgument`
  ///   where it contradicts the model or itself.
  func mapping(for serializer: some SyncSerializer) throws(ArborError) -> ItemMapping {
    let identity = serializer as? any Hashable
    if let identity, let mapping = mappings[AnyHashable(identity)] { return mapping }
    let mapping = try makeMapping(for: serializer)
    if let identity { mappings[AnyHashable(identity)] = mapping }
    return mapping
  }

  private func makeMapping<S: SyncSerializer>(for serializer: S) throws(ArborError) -> ItemMapping {
    var named = serializer.entityName
    if named == nil { named = try context.reader.entityName(of: S.Object.self) }
    let name = named ?? ""
    let entity = try schema.requireEntity(named: name)
    var attributes: [ItemAttribute] = []
    var relationships: [ItemRelationship] = []
    var indexes: [String: Int] = [:]
    for (property, source) in serializer.mapping.sources {
      switch entity.property(named: property) {
      case .attribute(let attribute):
        indexes[property] = attributes.count
        attributes.append(try self.attribute(attribute, source, entity, serializer.strictTypes))
      case .relationship(let relationship):
        relationships.append(try self.relationship(relationship, source, entity))
      case nil:
        throw ArborError(
          .unknownName,
          "\(name) has no property \(property) that a sync could set; name one in the mapping."
            + NearestName.hint(property, in: entity.propertyNames)
        ).with(entity: name, keyPath: property)
      }
    }
    let (identity, parent) = try Self.identity(serializer.identifiers, of: entity, indexes)
    let rules = Self.rules(serializer)
    let isMatched = !serializer.identifiers.isEmpty && !serializer.forceInsert
    return ItemMapping(
      entity, attributes: attributes, relationships: relationships, identity: identity,
      table: isMatched
        ? identities.table(
          for: entity, by: identity.map { attributes[$0].attribute }, under: parent,
          within: rules.scope) : nil,
      rules: rules)
  }

  /// Where in the mapping the attributes are that identify an object, and the relationship to the
  /// object within which they do.
  private static func identity(
    _ identifiers: [String], of entity: ExchangeEntity, _ indexes: [String: Int]
  ) throws(ArborError) -> (attributes: [Int], parent: ExchangeRelationship?) {
    var attributes: [Int] = []
    var parent: ExchangeRelationship?
    for identifier in identifiers {
      if let index = indexes[identifier] {
        attributes.append(index)
        continue
      }
      if let relationship = entity.relationship(named: identifier), !relationship.isToMany,
        parent == nil
      {
        parent = relationship
        continue
      }
      throw ArborError(
        .invalidArgument,
        "The identifier \(identifier) of \(entity.name) has no place in the mapping; map the "
          + "attribute."
      ).with(entity: entity.name, keyPath: identifier)
    }
    return (attributes, parent)
  }

  private static func rules(_ serializer: some SyncSerializer) -> ItemRules {
    var rules = ItemRules()
    rules.insertsMissing = serializer.insertMissing || serializer.forceInsert
    rules.updatesExisting = serializer.updateExisting
    rules.deletesMissing = serializer.deleteMissing
    rules.clearsAbsent = serializer.absentKeys == .clear
    rules.takesSinglesAsLists = true
    rules.dropsNull = true
    rules.validators = serializer.validators
    rules.scope = serializer.groupers.dropFirst().reduce(serializer.groupers.first) { both, next in
      both.map { $0 && next }
    }
    return rules
  }

  private func attribute(
    _ attribute: ExchangeAttribute, _ source: SyncSource, _ entity: ExchangeEntity, _ isStrict: Bool
  ) throws(ArborError) -> ItemAttribute {
    switch source.kind {
    case .toOne, .toMany: throw mismatch(entity, attribute.name, "is an attribute", "a value")
    default: break
    }
    let reader = SyncValueReader(
      kind: source.kind, attribute: attribute, entity: entity.name, isStrict: isStrict,
      attributes: attributes)
    return ItemAttribute(
      attribute, at: try attribute.slots(in: context), routes: [source.route]
    ) { node throws(ArborError) in try reader.value(node) }
  }

  private func relationship(
    _ relationship: ExchangeRelationship, _ source: SyncSource, _ entity: ExchangeEntity
  ) throws(ArborError) -> ItemRelationship {
    let serializer: SyncSource.Child
    switch source.kind {
    case .toOne(let child) where !relationship.isToMany: serializer = child
    case .toMany(let child) where relationship.isToMany: serializer = child
    default:
      throw relationship.isToMany
        ? mismatch(entity, relationship.name, "leads to many objects", "toMany")
        : mismatch(entity, relationship.name, "leads to one object", "toOne")
    }
    return ItemRelationship(
      relationship, at: try relationship.slots(in: context), routes: [source.route], policy: .assign
    ) { [unowned self] members, parent throws(ArborError) in
      let mapping = try self.mapping(for: serializer({ members.value }, { parent.value }))
      guard mapping.entity.isKind(of: relationship.destination) else {
        throw ArborError(
          .invalidArgument,
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and its "
            + "serializer is one of \(mapping.entity.name); give another."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
      return mapping
    }
  }

  private func mismatch(
    _ entity: ExchangeEntity, _ property: String, _ what: String, _ instead: String
  ) -> ArborError {
    ArborError(
      .invalidArgument,
      "\(entity.name).\(property) \(what), and the mapping takes something else for it; map it "
        + "by \(instead)."
    ).with(entity: entity.name, keyPath: property)
  }
}
