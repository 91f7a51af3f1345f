import ArborJSON
import ArborModel
import ArborObjects

/// Describes how items of one entity become objects: their identity, the paths of their values, and
/// the treatment of existing and missing objects.
///
/// Imports, syncs, seeds and value models have different mappings, but share ``ExchangePlan`` and
/// ``ExchangeRun``.
///
/// Compiled once for an import. Only planning modifies its state.
final class ExchangeMapping {
  let entity: EntitySchema
  /// The entity of the list or relationship whose items have the mapping: ``entity``, or an ancestor
  /// for items that choose a subentity.
  let listedEntity: EntitySchema
  /// The entity among whose objects items are looked up: ``listedEntity``, or ``entity`` if only the
  /// subentity has an identity.
  let identifiedEntity: EntitySchema
  let attributes: [MappedAttribute]
  let relationships: [MappedRelationship]
  /// The identity of the entity's objects, or `nil` if each item is a new object.
  let identity: ExchangeIdentity?
  /// The choice of a subentity's mapping by a member of the item, or `nil` for no choice.
  let choice: SubentityChoice?
  let rules: ExchangeRules
  /// The scanner that finds the values in JSON items.
  let scanner: ItemScanner
  /// The mapping's index in the plan to which it was most recently added, or `nil` before that.
  var indexInPlan: Int?
  /// The indexes of identifying attributes in ``attributes``.
  let identityAttributes: [Int]
  /// The index in ``attributes`` of the identifying attribute if there is only one and it stores
  /// any 64-bit integer without conversion, otherwise `nil`.
  let numberKey: Int?
  /// The index in ``relationships`` of the relationship to the object within which items are
  /// identified, or `nil` if the identity doesn't include one.
  let parent: Int?
  /// The attributes' forms and slots, to read values without retaining attributes.
  let shapes: [MappedAttribute.Shape]
  /// For each relationship, whether items refer to its objects by key. Parallel to
  /// ``relationships``.
  let areReferences: [Bool]
  private let indexes: [String: Int]

  init(
    _ entity: EntitySchema, attributes: [MappedAttribute], relationships: [MappedRelationship],
    identity: ExchangeIdentity? = nil, listedAs listedEntity: EntitySchema? = nil,
    identifiedAmong identifiedEntity: EntitySchema? = nil, choice: SubentityChoice? = nil,
    rules: ExchangeRules
  ) {
    self.entity = entity
    let listedEntity = listedEntity ?? entity
    self.listedEntity = listedEntity
    self.identifiedEntity = identifiedEntity ?? listedEntity
    self.attributes = attributes
    self.relationships = relationships
    self.identity = identity
    self.choice = choice
    self.rules = rules
    scanner = ItemScanner(entity.name, attributes, relationships)
    let identityAttributes = (identity?.slots ?? []).compactMap { slot in
      attributes.firstIndex { $0.slot == slot }
    }
    self.identityAttributes = identityAttributes
    numberKey =
      identityAttributes.count == 1 && attributes[identityAttributes[0]].isPlainInteger64
      ? identityAttributes[0] : nil
    shapes = attributes.map { MappedAttribute.Shape(plainForm: $0.plainForm, slot: $0.slot) }
    areReferences = relationships.map { $0.reference != nil }
    parent = relationships.firstIndex { $0.slot == identity?.parent?.slot }
    let names = attributes.map(\.name) + relationships.map(\.name)
    indexes = Dictionary(zip(names, names.indices)) { first, _ in first }
  }

  /// Creates the mapping of all properties of an entity, each under its own name. The index of each
  /// attribute equals its slot.
  convenience init(
    ofAll entity: EntitySchema, in schema: ModelSchema, policy: MembershipPolicy = .assign,
    identity: ExchangeIdentity? = nil, rules: ExchangeRules = ExchangeRules()
  ) throws(ArborError) {
    self.init(
      entity,
      attributes: try entity.attributes.map { (attribute) throws(ArborError) in
        MappedAttribute(try AttributeCoder(attribute, of: entity, in: schema.model))
      },
      relationships: entity.relationships.filter { !$0.isHidden }
        .map { MappedRelationship($0, of: entity, in: schema, policy: policy) },
      identity: identity, rules: rules)
  }

  /// Returns the index of a property in the concatenation of attributes and relationships, or `nil`
  /// if it isn't mapped.
  func index(of property: String) -> Int? { indexes[property] }

  /// The names of the identifying properties, for messages.
  var identityNames: [String] {
    guard let identity else { return [] }
    return identityAttributes.map { attributes[$0].name }
      + (identity.parent.map { [$0.name] } ?? [])
  }

  /// Returns whether items in a relationship are identified within its owner.
  func isIdentified(within owner: MappedRelationship?) -> Bool {
    guard let parent = identity?.parent, let owner else { return false }
    return owner.schema.inverseSlot == parent.slot
  }
}

/// The attributes that identify objects of an entity, and the relationship to the object within
/// which they are unique.
struct ExchangeIdentity {
  /// The slots of the attributes.
  var slots: [Int] = []
  var parent: RelationshipSchema?
  /// The predicate that bounds the lookup, or `nil` for the whole entity.
  var scope: FetchPredicate?
}

/// The options that differ between kinds of exchange.
struct ExchangeRules {
  /// Whether an item without a matching object inserts one.
  var insertsMissing = true
  /// Whether an item changes its matching objects.
  var updatesExisting = true
  /// Whether objects that no item describes are deleted.
  var deletesMissing = false
  /// The predicate that bounds matching and deleting, or `nil` for no bounds.
  var scope: FetchPredicate?
  /// Whether only the last of several items with the same identity in a list is used.
  var lastOfEqualsWins = false
  /// Whether a property without a value is cleared.
  var clearsAbsent = false
  /// Whether a single object is accepted in place of a list.
  var takesSinglesAsLists = false
  /// Whether null items are dropped and counted.
  var dropsNull = false
  /// Whether null members of a relationship are skipped.
  var skipsNullMembers = false
  /// Whether the objects' hooks are called.
  var callsHooks = false
  /// The source of the numbers for `<uniqueID>`, or `nil` if that is an ordinary string.
  var uniqueIDs: SeedOptions.UniqueIDSource?
  /// Closures that are applied to every item first. Returning `nil` drops the item.
  var validators: [@Sendable (JSONValue) -> JSONValue?] = []
}

/// The path and interpretation of an attribute's value in an item.
final class MappedAttribute {
  struct Shape: BitwiseCopyable {
    let plainForm: PlainForm?
    let slot: Int
  }

  let coder: AttributeCoder
  /// The paths, in order of precedence.
  let routes: [ItemRoute]
  /// Whether the path is specified in the model, rather than being the attribute's own name.
  let isNamed: Bool
  /// Whether the attribute is part of the identity.
  let identifies: Bool
  /// The form of values that can be stored without conversion, or `nil` if all values must be
  /// converted.
  let plainForm: PlainForm?
  /// Whether any 64-bit integer can be stored without conversion.
  let isPlainInteger64: Bool

  var name: String { coder.name }
  var slot: Int { coder.slot }

  init(
    _ coder: AttributeCoder, routes: [ItemRoute] = [], isNamed: Bool = false,
    identifies: Bool = false
  ) {
    self.coder = coder
    self.routes = routes
    self.isNamed = isNamed
    self.identifies = identifies
    plainForm = coder.isDerived ? nil : coder.plainForm
    isPlainInteger64 = plainForm != nil && coder.type == .integer64
  }
}

extension MappedAttribute {
  /// Returns the value of an identifying attribute, or throws the error with its location.
  ///
  /// - Parameter isLenient: Whether an unreadable identity counts as missing.
  func identity(_ node: JSONNode, isLenient: Bool) throws(ArborError) -> PropertyValue {
    if let key = coder.key(node) ?? coder.value(node) { return key }
    guard isLenient else { throw coder.problem(with: node) }
    return .null
  }

  /// Returns the attribute's value, or `nil` if the JSON isn't valid.
  func value(_ node: JSONNode) -> PropertyValue? {
    identifies ? coder.key(node) ?? coder.value(node) : coder.value(node)
  }
}

/// The path and treatment of a relationship's members in an item.
final class MappedRelationship {
  /// A closure that returns the mapping of members, given their node and that of their parent.
  typealias Members = (_ members: JSONNode, _ parent: JSONNode) throws(ArborError) ->
    ExchangeMapping

  let schema: RelationshipSchema
  let name: String
  let slot: Int
  let isToMany: Bool
  let isOrdered: Bool
  /// The entity through which the relationship was reached.
  let owner: EntitySchema
  let destination: EntitySchema
  /// Whether members may have several owners.
  let isInverseToMany: Bool
  /// The paths, in order of precedence.
  let routes: [ItemRoute]
  /// Whether the path is specified in the model, rather than being the relationship's own name.
  let isNamed: Bool
  let policy: MembershipPolicy
  /// The reference by which its objects are identified, or `nil` if items describe them.
  let reference: ItemReference?
  /// The mapping of its members, or `nil` if items don't describe them.
  let members: Members?

  init(
    _ schema: RelationshipSchema, of entity: EntitySchema, in model: ModelSchema,
    routes: [ItemRoute] = [], isNamed: Bool = false, policy: MembershipPolicy = .assign,
    reference: ItemReference? = nil, members: Members? = nil
  ) {
    self.schema = schema
    name = schema.name
    slot = schema.slot
    isToMany = schema.isToMany
    isOrdered = schema.isOrdered
    owner = entity
    destination = model.entities[schema.destination]
    isInverseToMany = model.inverse(of: schema).isToMany
    self.isNamed = isNamed
    self.routes = routes
    self.policy = policy
    self.reference = reference
    self.members = members
  }

  var entityName: String { owner.name }
  var isOptional: Bool { schema.description.isOptional }

  /// Checks that the number of members of one object doesn't exceed the limit.
  func check(_ count: Int, limit: Int, at node: JSONNode) throws(ArborError) {
    guard isToMany, count > limit else { return }
    throw node.error(
      "\(entityName).\(name) would have \(count) members, which exceeds the limit of \(limit). "
        + "Split the seed, or raise maximumMembers.", code: .limitExceeded
    ).with(entity: entityName, keyPath: name)
  }

  /// Sets the members of an object. Returns `false` if they are unchanged.
  func set(
    _ members: [ManagedObject], of object: ManagedObject
  ) throws(ArborError) -> Bool {
    let former = object.objects(atSlot: slot)
    let isSame = isOrdered ? former == members : Set(former) == Set(members)
    if !isSame { try object.setObjects(members, atSlot: slot) }
    return !isSame
  }

  /// Sets a to-one relationship. Returns `false` if it is unchanged.
  func set(_ target: ManagedObject?, of object: ManagedObject) throws(ArborError) -> Bool {
    guard object.object(atSlot: slot) !== target else { return false }
    try object.setObject(target, atSlot: slot)
    return true
  }

  /// Adds missing members without reading the others. Returns `false` if none are missing.
  func add(_ members: [ManagedObject], to object: ManagedObject) throws(ArborError) -> Bool {
    var added = false
    for member in members where !object.contains(member, atSlot: slot) {
      try object.add(member, atSlot: slot)
      added = true
    }
    return added
  }
}

enum MembershipPolicy {
  /// Members that no other object refers to are deleted before the listed ones are imported. Others
  /// are unlinked if they aren't listed.
  case replace
  /// Existing members are kept, and new ones are added.
  case merge
  /// Members that aren't listed are unlinked.
  case mergeAndPrune
  /// The relationship is set to the list. Members that aren't listed are unlinked, and deleted if
  /// the mapping deletes missing objects.
  case assign
  /// Existing members are kept. In an ordered relationship, the listed ones come first.
  case putFirst
}

extension ModelSchema {
  /// Returns the entity with a name, or throws `unknownName`.
  func requireEntity(named name: String) throws(ArborError) -> EntitySchema {
    guard let entity = entity(named: name) else {
      throw ArborError(
        .unknownName,
        "The model has no entity \(name). Correct the name."
          + NearestName.hint(name, in: entities.map(\.name))
      ).with(entity: name)
    }
    return entity
  }

  /// The names of the concrete entities.
  var entityNames: [String] { entities.filter { !$0.isAbstract }.map(\.name) }
}
