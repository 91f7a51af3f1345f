import ArborJSON
import ArborModel
import ArborObjects

/// How items of one entity become objects: what identifies them, where their values are, and what
/// happens to objects that exist already or are missing.
///
/// Imports, syncs, seeds and value models differ in their mappings; ``ExchangePlan`` and
/// ``ExchangeRun`` are the same for all.
///
/// Compiled once for an import. Only planning changes what it finds out on the way.
final class ExchangeMapping {
  let entity: EntitySchema
  let attributes: [MappedAttribute]
  let relationships: [MappedRelationship]
  /// What identifies the entity's objects; `nil` if each item is a new one.
  let identity: ExchangeIdentity?
  let rules: ExchangeRules
  /// Finds the values in items of JSON.
  private(set) lazy var scanner = ItemScanner(entity.name, attributes, relationships)
  /// The index in the plan that has entered the mapping last.
  var indexInPlan: Int?
  /// The indexes among ``attributes`` of those that identify the entity's objects.
  let identityAttributes: [Int]
  /// Among ``relationships``, the one that leads to the object within which items are identified.
  let parent: Int?
  private let indexes: [String: Int]

  init(
    _ entity: EntitySchema, attributes: [MappedAttribute], relationships: [MappedRelationship],
    identity: ExchangeIdentity? = nil, rules: ExchangeRules
  ) {
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
    self.identity = identity
    self.rules = rules
    identityAttributes = (identity?.slots ?? []).compactMap { slot in
      attributes.firstIndex { $0.slot == slot }
    }
    parent = relationships.firstIndex { $0.slot == identity?.parent?.slot }
    let names = attributes.map(\.name) + relationships.map(\.name)
    indexes = Dictionary(zip(names, names.indices)) { first, _ in first }
  }

  /// The mapping of all properties of an entity, each under its own name; its attributes have the
  /// indexes of their slots.
  convenience init(
    ofAll entity: EntitySchema, in schema: ModelSchema, policy: MembershipPolicy = .assign,
    identity: ExchangeIdentity? = nil, rules: ExchangeRules = ExchangeRules()
  ) {
    self.init(
      entity,
      attributes: entity.attributes.map {
        MappedAttribute(AttributeCoder($0, of: entity, in: schema.model))
      },
      relationships: entity.relationships.filter { !$0.isHidden }
        .map { MappedRelationship($0, of: entity, in: schema, policy: policy) },
      identity: identity, rules: rules)
  }

  /// The index of a property among the attributes and then the relationships.
  func index(of property: String) -> Int? { indexes[property] }

  /// The parts of the identity, for messages.
  var identityNames: [String] {
    guard let identity else { return [] }
    return identityAttributes.map { attributes[$0].name }
      + (identity.parent.map { [$0.name] } ?? [])
  }

  /// Whether items that a relationship leads to are identified within its owner.
  func isIdentified(within owner: MappedRelationship?) -> Bool {
    guard let parent = identity?.parent, let owner else { return false }
    return owner.schema.inverseSlot == parent.slot
  }

  /// Whether an item that a relationship leads to may be an object that belongs to another owner.
  func takesFromOthers(_ owner: MappedRelationship?) -> Bool {
    guard let identity, let owner else { return true }
    return identity.isGlobal || owner.isInverseToMany
  }
}

/// The attributes that identify objects of an entity, and the relationship to the object within
/// which they do.
struct ExchangeIdentity {
  /// The attributes' slots.
  var slots: [Int] = []
  var parent: RelationshipSchema?
  /// Where objects are looked up; `nil` for the whole entity.
  var scope: FetchPredicate?
  /// Whether the attributes identify an object in the whole store. Otherwise the members that an
  /// object owns are never those of another owner.
  var isGlobal = true
}

/// What distinguishes the kinds of exchange from each other.
struct ExchangeRules {
  /// Whether an item that matches no object creates one.
  var insertsMissing = true
  /// Whether an item changes the objects that it matches.
  var updatesExisting = true
  /// Whether objects that no item describes are deleted.
  var deletesMissing = false
  /// What bounds matching and deleting; `nil` for no bounds.
  var scope: FetchPredicate?
  /// Whether of items with one identity only the last in its list counts.
  var lastOfEqualsWins = false
  /// Whether a property without a value is cleared.
  var clearsAbsent = false
  /// Whether an object may stand for a list of one.
  var takesSinglesAsLists = false
  /// Whether an item that is null is left out, and counted.
  var dropsNull = false
  /// Whether null among the members of a relationship is left out.
  var skipsNullMembers = false
  /// Whether the objects' own hooks are called.
  var callsHooks = false
  /// Where the numbers come from that `<uniqueID>` draws; `nil` if that is a text like any other.
  var uniqueIDs: SeedOptions.UniqueIDSource?
  /// What every item goes through first; `nil` drops it.
  var validators: [@Sendable (JSONValue) -> JSONValue?] = []
}

/// Where an attribute's value is in an item, and how it is read.
final class MappedAttribute {
  let coder: AttributeCoder
  /// The first that leads to a value counts.
  let routes: [ItemRoute]
  /// Whether the model names the place, rather than the attribute's own name.
  let isNamed: Bool
  /// Whether the attribute is a part of the identity.
  let identifies: Bool
  /// What needs no reading in the form that the attribute keeps; `nil` if everything does.
  let plainForm: PlainForm?
  /// Whether any whole number of 64 bits is a value of the attribute as it is.
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
  /// The value of an attribute that identifies objects, or the error with its location.
  ///
  /// - Parameter isLenient: Whether an item whose identity cannot be read simply lacks it.
  func identity(_ node: JSONNode, isLenient: Bool) throws(ArborError) -> PropertyValue {
    if let key = coder.key(node) ?? coder.value(node) { return key }
    guard isLenient else { throw coder.problem(with: node) }
    return .null
  }

  /// The value that the attribute will hold; `nil` if the JSON is not one of it.
  func value(_ node: JSONNode) -> PropertyValue? {
    identifies ? coder.key(node) ?? coder.value(node) : coder.value(node)
  }
}

/// Where the members of a relationship are in an item, and what happens to them.
final class MappedRelationship {
  /// Returns the mapping of members; the first node is theirs, the second one their parent's.
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
  /// The first that leads to a value counts.
  let routes: [ItemRoute]
  /// Whether the model names the place, rather than the relationship's own name.
  let isNamed: Bool
  let policy: MembershipPolicy
  /// How its objects are named by keys; `nil` if items describe them.
  let reference: ItemReference?
  /// The mapping of its members; `nil` if items do not describe them.
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

  /// Checks that one object may have so many members at once.
  func check(_ count: Int, limit: Int, at node: JSONNode) throws(ArborError) {
    guard isToMany, count > limit else { return }
    throw node.error(
      "\(entityName).\(name) gets \(count) members, which exceeds the limit of \(limit). Split the "
        + "seed, or raise maximumMembers.", code: .limitExceeded
    ).with(entity: entityName, keyPath: name)
  }

  /// Makes objects the members of an object; false if they are already.
  func set(
    _ members: [ManagedObject], of object: ManagedObject
  ) throws(ArborError) -> Bool {
    let former = object.objects(atSlot: slot)
    let isSame = isOrdered ? former == members : Set(former) == Set(members)
    if !isSame { try object.setObjects(members, atSlot: slot) }
    return !isSame
  }

  /// Points a to-one relationship at an object; false if it leads there already.
  func set(_ target: ManagedObject?, of object: ManagedObject) throws(ArborError) -> Bool {
    guard object.object(atSlot: slot) !== target else { return false }
    try object.setObject(target, atSlot: slot)
    return true
  }

  /// Adds members that are not there yet, without a look at the others.
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
  /// Those that no other object refers to are deleted before the new ones are imported; others that
  /// the list does not name are unlinked.
  case replace
  /// They stay, and new ones are added.
  case merge
  /// Those that the list does not name are unlinked.
  case mergeAndPrune
  /// The relationship becomes what the list contains; those that it does not name are unlinked, and
  /// deleted if the mapping deletes what is missing.
  case assign
  /// They stay. In an order, what the list names comes first.
  case putFirst
}

extension ModelSchema {
  /// The entity of a name, or the error `unknownName`.
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

  /// The names of the entities that can have objects.
  var entityNames: [String] { entities.filter { !$0.isAbstract }.map(\.name) }
}
