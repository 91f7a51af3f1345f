import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// Compiles the mappings of serializers.
final class SyncMapper {
  private let context: ManagedObjectContext
  private let schema: ModelSchema
  /// The mappings of hashable serializers.
  private var mappings: [Key: ExchangeMapping] = [:]

  private struct Key: Hashable {
    let serializer: AnyHashable
    let isStrict: Bool
  }

  init(_ context: ManagedObjectContext) {
    self.context = context
    schema = context.store.schema
  }

  /// Returns the mapping of a serializer.
  ///
  /// - Parameter isStrict: Whether the serializer of the containing items has strict types.
  /// - Throws: ``ArborError`` `unknownName` if it refers to a name that isn't in the model,
  ///   `invalidArgument` if it contradicts the model or itself.
  func mapping(
    for serializer: some SyncSerializer, within isStrict: Bool = false
  ) throws(ArborError) -> ExchangeMapping {
    let isStrict = isStrict || serializer.strictTypes
    let key = (serializer as? any Hashable).map {
      Key(serializer: AnyHashable($0), isStrict: isStrict)
    }
    if let key, let mapping = mappings[key] { return mapping }
    let entity = try entity(of: serializer)
    var chosen: [(word: String, mapping: ExchangeMapping)] = []
    for (word, variant) in serializer.variants?.serializers.sorted(by: { $0.key < $1.key }) ?? [] {
      let kind = try self.entity(of: variant)
      guard kind !== entity, kind.isKind(of: entity) else {
        throw ArborError(
          .invalidArgument,
          "The variant “\(word)” of the serializer of \(entity.name) is for \(kind.name). Use a "
            + "serializer for a subentity of \(entity.name)."
        ).with(entity: entity.name)
      }
      let mapping = try makeMapping(
        for: kind, variant.mapping, as: serializer, of: entity,
        isStrict: isStrict || variant.strictTypes)
      chosen.append((word, mapping))
    }
    let choice = serializer.variants.map { variants in
      SubentityChoice(
        entity: entity, routes: [ItemRoute(variants.path.steps)],
        entities: Dictionary(uniqueKeysWithValues: chosen.map { ($0.word, $0.mapping.entity) }),
        isStrict: isStrict
      ) { kind throws(ArborError) in
        let lineage = kind.lineage
        return chosen.map(\.mapping).filter { lineage.contains($0.entity.index) }
          .max { $0.entity.lineage.count < $1.entity.lineage.count }
      }
    }
    let mapping = try makeMapping(
      for: entity, serializer.mapping, as: serializer, of: entity, choice, isStrict: isStrict)
    if let key { mappings[key] = mapping }
    return mapping
  }

  private func entity<S: SyncSerializer>(of serializer: S) throws(ArborError) -> EntitySchema {
    if let name = serializer.entityName { return try schema.requireEntity(named: name) }
    return try schema.requireEntity(named: context.session.entityName(of: S.Object.self))
  }

  /// - Parameters:
  ///   - entity: The entity of the mapping.
  ///   - serializer: The serializer that specifies everything except the mapping.
  ///   - ancestor: The entity of the serializer.
  private func makeMapping(
    for entity: EntitySchema, _ properties: SyncMapping, as serializer: some SyncSerializer,
    of ancestor: EntitySchema, _ choice: SubentityChoice? = nil, isStrict: Bool
  ) throws(ArborError) -> ExchangeMapping {
    let name = entity.name
    var attributes: [MappedAttribute] = []
    var relationships: [MappedRelationship] = []
    var mapped: Set<String> = []
    for (property, source) in properties.sources {
      guard mapped.insert(property).inserted else {
        throw ArborError(
          .invalidArgument,
          "The mapping of \(name) lists \(property) twice. Remove one of the entries."
        ).with(entity: name, keyPath: property)
      }
      switch entity.property(named: property) {
      case .attribute(let attribute):
        attributes.append(try self.attribute(attribute, source, entity, isStrict))
      case .relationship(let relationship):
        relationships.append(try self.relationship(relationship, source, entity, isStrict))
      case nil:
        throw ArborError(
          .unknownName,
          "\(name) has no property \(property) that a sync can set. Correct the mapping."
            + NearestName.hint(property, in: entity.propertyNames)
        ).with(entity: name, keyPath: property)
      }
    }
    let isMatched = !serializer.identifiers.isEmpty && !serializer.forceInsert
    var identity = try Self.identity(serializer.identifiers, of: entity, attributes)
    let rules = Self.rules(serializer)
    identity.scope = rules.scope
    return ExchangeMapping(
      entity, attributes: attributes, relationships: relationships,
      identity: isMatched ? identity : nil, listedAs: ancestor, choice: choice,
      rules: rules)
  }

  /// Returns the identity of objects: attributes of the mapping, and at most one to-one
  /// relationship within whose target they are unique.
  private static func identity(
    _ identifiers: [String], of entity: EntitySchema, _ attributes: [MappedAttribute]
  ) throws(ArborError) -> ExchangeIdentity {
    var identity = ExchangeIdentity()
    for identifier in identifiers {
      if let attribute = attributes.first(where: { $0.name == identifier }) {
        identity.slots.append(attribute.slot)
        continue
      }
      if case .relationship(let relationship)? = entity.property(named: identifier),
        !relationship.isToMany, identity.parent == nil
      {
        identity.parent = relationship
        continue
      }
      throw ArborError(
        .invalidArgument,
        "The identifier \(identifier) of \(entity.name) is neither an attribute in the mapping nor "
          + "the only to-one relationship among the identifiers. Correct the identifier, or map "
          + "the attribute."
      ).with(entity: entity.name, keyPath: identifier)
    }
    return identity
  }

  private static func rules(_ serializer: some SyncSerializer) -> ExchangeRules {
    var rules = ExchangeRules()
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
    _ attribute: AttributeSchema, _ source: SyncSource, _ entity: EntitySchema, _ isStrict: Bool
  ) throws(ArborError) -> MappedAttribute {
    switch source.kind {
    case .toOne, .toMany: throw mismatch(entity, attribute.name, "is an attribute", "a value")
    default: break
    }
    let coder = try AttributeCoder(
      attribute, of: entity, in: schema.model,
      conversion: SyncConversion(kind: source.kind, isStrict: isStrict))
    return MappedAttribute(coder, routes: [source.route])
  }

  private func relationship(
    _ relationship: RelationshipSchema, _ source: SyncSource, _ entity: EntitySchema,
    _ isStrict: Bool
  ) throws(ArborError) -> MappedRelationship {
    let serializer: SyncSource.Child
    switch source.kind {
    case .toOne(let child) where !relationship.isToMany: serializer = child
    case .toMany(let child) where relationship.isToMany: serializer = child
    default:
      throw relationship.isToMany
        ? mismatch(entity, relationship.name, "is to-many", "toMany")
        : mismatch(entity, relationship.name, "is to-one", "toOne")
    }
    let destination = schema.entities[relationship.destination]
    let name = relationship.name
    return MappedRelationship(
      relationship, of: entity, in: schema, routes: [source.route], policy: .assign
    ) { [unowned self] members, parent throws(ArborError) in
      let mapping = try self.mapping(
        for: serializer({ members.value }, { parent.value }), within: isStrict)
      guard mapping.entity.isKind(of: destination) else {
        throw ArborError(
          .invalidArgument,
          "\(entity.name).\(name) refers to \(destination.name), but its serializer is for "
            + "\(mapping.entity.name). Use a serializer for \(destination.name)."
        ).with(entity: entity.name, keyPath: name)
      }
      return mapping
    }
  }

  private func mismatch(
    _ entity: EntitySchema, _ property: String, _ what: String, _ instead: String
  ) -> ArborError {
    ArborError(
      .invalidArgument,
      "\(entity.name).\(property) \(what), but the mapping treats it as something else. Map it with "
        + "\(instead)."
    ).with(entity: entity.name, keyPath: property)
  }
}

/// A conversion of JSON values for an attribute. The mapping specifies the JSON type; other types
/// yield `nil`, or an error with ``SyncSerializer/strictTypes``.
struct SyncConversion: Sendable {
  let kind: SyncSource.Kind
  let isStrict: Bool

  /// Returns the attribute's value, or `nil` if the attribute cannot hold it or, with strict types,
  /// if it has another type.
  func value(_ node: JSONNode, for attribute: AttributeCoder) -> PropertyValue? {
    if node.kind == .null { return .null }
    if case .value = kind { return attribute.ownValue(node) ?? mismatch }
    guard let value = converted(node, attribute.type) else { return mismatch }
    return attribute.type.fitting(value)
  }

  func problem(with node: JSONNode, for attribute: AttributeCoder) -> ArborError {
    if case .value = kind { return attribute.ownProblem(with: node) }
    let isConverted = converted(node, attribute.type) != nil
    let isParsed = if case .isoDate = kind { true } else { false }
    return attribute.error(
      node, isConverted ? attribute.type.expectation : expectation,
      code: isParsed && node.kind == .string ? .unparsableValue : .invalidDocument)
  }

  private var mismatch: PropertyValue? { isStrict ? nil : .null }

  private func converted(_ node: JSONNode, _ type: AttributeType) -> PropertyValue? {
    switch kind {
    case .string: node.string.map(PropertyValue.string)
    case .bool: node.bool.map(PropertyValue.boolean)
    case .int: number(node).flatMap(Self.whole)
    case .number: number(node).flatMap { Self.exact($0, type) }
    case .double: number(node)?.double.map(PropertyValue.double)
    case .float:
      number(node)?.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
    case .isoDate: node.string.flatMap(ISO8601Date.parseInZone).map(PropertyValue.date)
    case .value, .toOne, .toMany: nil
    }
  }

  /// Returns the number, or 0 or 1 for a Boolean, or `nil` for any other value.
  private func number(_ node: JSONNode) -> JSONNumber? {
    node.number ?? node.bool.map { JSONNumber($0 ? 1 : 0) }
  }

  private static func whole(_ number: JSONNumber) -> PropertyValue? {
    if let whole = number.int64 { return .integer(whole) }
    return number.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map(
      PropertyValue.integer)
  }

  private static func exact(_ number: JSONNumber, _ type: AttributeType) -> PropertyValue? {
    if let whole = number.int64 { return .integer(whole) }
    if type == .decimal, let decimal = number.decimal { return .decimal(decimal) }
    return number.double.map(PropertyValue.double)
  }

  private var expectation: String {
    switch kind {
    case .string: "a string"
    case .bool: "true or false"
    case .int, .number, .double, .float: "a number"
    case .isoDate: "a date in ISO 8601 with a time zone, such as \"2024-05-01T12:30:00Z\""
    case .value, .toOne, .toMany: ""
    }
  }
}
