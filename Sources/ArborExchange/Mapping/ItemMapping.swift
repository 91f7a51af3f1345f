import ArborJSON
import ArborModel
import ArborObjects

/// How the items of one entity become objects: what identifies them, where their values stand, and
/// what is done with those that are there already or are missing.
///
/// Import and sync differ in their mappings alone; ``ItemPlanner`` and ``ItemRun`` do the rest.
final class ItemMapping {
  let entity: ExchangeEntity
  let attributes: [ItemAttribute]
  let relationships: [ItemRelationship]
  /// The indexes of those ``attributes`` that identify an object.
  let identity: [Int]
  /// The index of the relationship whose object is a part of the identity; nil where there is none,
  /// or only items within that object can be identified.
  let parent: Int?
  /// Where objects are looked up; nil: nowhere.
  let table: IdentityTable?
  let rules: ItemRules
  /// Where a plan has entered the mapping.
  var indexInPlan: Int?
  /// For each attribute and relationship that no item has had so far, and whose place the model
  /// names, its index among both.
  private(set) var unmet: [Int]
  /// Whether an item was looked at.
  private(set) var isUsed = false
  /// Finds what stands under the first names of all routes.
  private let members: JSONMembers
  /// For each attribute and relationship the index of its key among ``members``; -1 where other
  /// routes than a single key lead to its value.
  private var plainKeys: [Int32] = []
  /// The index among ``members`` of the name under which items have their keys; nil: they do not.
  private var suppliedKey: Int?
  /// The other routes, by the index of their attribute or relationship.
  private var branchingRoutes: [(index: Int, routes: [ItemRoute])] = []

  init(
    _ entity: ExchangeEntity, attributes: [ItemAttribute], relationships: [ItemRelationship],
    identity: [Int], table: IdentityTable?, rules: ItemRules
  ) {
    parent = relationships.firstIndex {
      $0.relationship.name == table?.parent?.name
    }
    unmet =
      attributes.indices.filter { attributes[$0].isNamed }
      + relationships.indices.filter { relationships[$0].isNamed }.map { attributes.count + $0 }

    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
    self.identity = identity
    self.table = table
    self.rules = rules
    let routes =
      attributes.flatMap(\.routes) + relationships.flatMap { $0.reference?.routes ?? $0.routes }
    let keys = routes.compactMap(\.firstKey)
    members = JSONMembers(JSONKeyTable(Set(keys).sorted()))
    for attribute in attributes {
      for route in attribute.routes.indices { attribute.routes[route].prepare(members.table) }
    }
    for relationship in relationships {
      for route in relationship.routes.indices {
        relationship.routes[route].prepare(members.table)
      }
      relationship.reference?.prepare(members.table)
    }
    for routes in attributes.map(\.routes) + relationships.map(\.routes) {
      let plainKey = routes.count == 1 ? routes[0].plainKey : nil
      if plainKey == nil { branchingRoutes.append((plainKeys.count, routes)) }
      plainKeys.append(Int32(plainKey ?? -1))
    }
  }

  /// Looks at an item: until the next look, its values are found.
  ///
  /// - Parameters:
  ///   - keyed: Whether the item is a value of an object and has its key there as a member, under
  ///     the name that was given to ``supply(_:)``.
  ///   - nodes: Receives the tape indexes of the values of all attributes and all
  ///     relationships, in their order; 0 where the item has none.
  /// - Throws: ``ArborError`` `invalidDocument` where a keyed item has a member of that name
  ///   itself.
  func look(at item: JSONNode, keyed: Bool, _ nodes: inout [Int32]) throws(ArborError) {
    members.find(in: item)
    if keyed, let suppliedKey {
      let key = JSONNode(document: item.document, tapeIndex: item.tapeIndex - 1)
      guard members.supply(key, forKeyAt: suppliedKey) else {
        let name = members.table.keys[suppliedKey]
        throw key.error(
          "The item has a member “\(name)” itself, and the layout has its key there; name the key "
            + "otherwise in the layout."
        ).with(entity: entity.name)
      }
    }
    let first = nodes.count
    members.appendNodes(at: plainKeys, to: &nodes)
    for (index, routes) in branchingRoutes {
      let node = routes.lazy.map { $0.node(among: self.members) }.first { $0 > 0 }
      nodes[first + index] = Int32(truncatingIfNeeded: node ?? 0)
    }
    isUsed = true
    if !unmet.isEmpty { unmet.removeAll { nodes[first + $0] > 0 } }
  }

  /// Whether objects are found by an identity.
  var isIdentified: Bool { table != nil }

  /// The parts of the identity, for messages.
  var identityNames: [String] {
    identity.map { attributes[$0].attribute.name } + (table?.parent.map { [$0.name] } ?? [])
  }

  /// Whether items that a relationship leads to are identified within its owner.
  func isParent(_ owner: ItemRelationship?) -> Bool {
    guard let parent = table?.parent, let owner else { return false }
    return owner.relationship.inverse == parent.name
  }

  /// The names of properties that no item has had, with the notes that say where they stand.
  var unmetNames: [(property: String, key: String)] {
    unmet.map { index in
      let isAttribute = index < attributes.count
      let routes =
        isAttribute ? attributes[index].routes : relationships[index - attributes.count].routes
      let name =
        isAttribute
        ? attributes[index].attribute.name
        : relationships[index - attributes.count].relationship.name
      return (name, routes.last?.description ?? name)
    }
  }

  /// Lets items that are values of an object have their keys there as members of a name.
  ///
  /// - Throws: ``ArborError`` `unknownName` where no property is read from such a member.
  func supply(_ name: String) throws(ArborError) {
    suppliedKey = members.table.keyIndex(of: name)
    guard suppliedKey == nil else { return }
    throw ArborError(
      .unknownName,
      "The layout has the items' keys under “\(name)”, and no property of \(entity.name) is read "
        + "from there; name an attribute, or note the name as its ImportName."
        + NearestName.hint(name, in: members.table.keys)
    ).with(entity: entity.name, keyPath: name)
  }

  /// The value in the item looked at last that a route leads to.
  func value(of route: ItemRoute) -> JSONNode? { route.value(among: members) }
}

/// Where an attribute's value stands in an item, and how it is read.
///
/// A class, so that going through them copies nothing.
final class ItemAttribute {
  let attribute: ExchangeAttribute
  let slots: PropertySlots
  /// The first that leads to a value counts.
  fileprivate(set) var routes: [ItemRoute]
  /// Whether the model names the place, rather than the attribute's own name.
  let isNamed: Bool
  /// What needs no reading where it is in the form that the attribute keeps; nil: all does.
  let plainForm: PlainForm?
  /// Whether any whole number of 64 bits is a value of the attribute as it is.
  let isPlainInteger64: Bool
  /// The value that the attribute will hold, in the form that it keeps.
  let read: (JSONNode) throws(ArborError) -> Value

  init(
    _ attribute: ExchangeAttribute, at slots: PropertySlots, routes: [ItemRoute],
    isNamed: Bool = false, takesPlainValues: Bool = false,
    read: @escaping (JSONNode) throws(ArborError) -> Value
  ) {
    self.attribute = attribute
    self.slots = slots
    self.routes = routes
    self.isNamed = isNamed
    plainForm = takesPlainValues ? PlainForm(attribute.type) : nil
    isPlainInteger64 = takesPlainValues && attribute.type == .integer64
    self.read = read
  }
}

/// Values of a document that an attribute takes as they are.
enum PlainForm {
  /// Numbers and Booleans. Hooks are told whatever the document has.
  case number
  case text
  /// Texts and numbers that mean a point in time. Hooks are told which, in one form.
  case date

  init?(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .date: self = .date
    case _ where FieldKind(type).form.isNumeric: self = .number
    default: return nil
    }
  }
}

/// Where the members of a relationship stand in an item, and what they become.
final class ItemRelationship {
  /// Gives the mapping of members; the node is theirs, the other one their parent's.
  typealias Members = (_ members: JSONNode, _ parent: JSONNode) throws(ArborError) -> ItemMapping

  let relationship: ExchangeRelationship
  let slots: PropertySlots
  /// The first that leads to a value counts.
  fileprivate(set) var routes: [ItemRoute]
  /// Whether the model names the place, rather than the relationship's own name.
  let isNamed: Bool
  let policy: MembershipPolicy
  let mapping: Members
  /// How its objects are named by keys; nil: items describe them.
  fileprivate(set) var reference: ItemReference?

  init(
    _ relationship: ExchangeRelationship, at slots: PropertySlots, routes: [ItemRoute],
    isNamed: Bool = false, policy: MembershipPolicy, reference: ItemReference? = nil,
    mapping: @escaping Members
  ) {
    self.isNamed = isNamed
    self.relationship = relationship
    self.slots = slots
    self.routes = routes
    self.policy = policy
    self.reference = reference
    self.mapping = mapping
  }
}

enum MembershipPolicy {
  /// Those that nobody else refers to are deleted before the new ones are imported; others that the
  /// list does not name are unlinked.
  case replace
  /// They stay, and new ones are added.
  case merge
  /// Those that the list does not name are unlinked.
  case mergeAndPrune
  /// The relationship becomes what the list says; those that it does not name are unlinked, and
  /// deleted where the mapping deletes what is missing.
  case assign
}

/// What distinguishes the ways of exchange from each other.
struct ItemRules {
  /// Whether an item that matches no object makes one.
  var insertsMissing = true
  /// Whether an item changes the objects that it matches.
  var updatesExisting = true
  /// Whether objects that no item speaks of are deleted.
  var deletesMissing = false
  /// What bounds matching and deleting; nil: nothing.
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
  /// Receives what is left out for not being as expected; nil: that is an error.
  var drops: ImportDrops?
  /// What every item goes through first; nil drops it.
  var validators: [@Sendable (JSONValue) -> JSONValue?] = []
}
