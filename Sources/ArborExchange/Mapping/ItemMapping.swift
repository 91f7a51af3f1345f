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
  /// The indices of those ``attributes`` that identify an object; empty: each item is a new one.
  let identity: [Int]
  /// Where objects are looked up; nil: nowhere.
  let table: IdentityTable?
  let rules: ItemRules
  /// Where a plan has entered the mapping.
  var indexInPlan: Int?
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
  /// What needs no reading where it is in the form that the attribute keeps; nil: all does.
  let plainForm: PlainForm?
  /// Whether any whole number of 64 bits is a value of the attribute as it is.
  let isPlainInteger64: Bool
  /// The value that the attribute will hold, in the form that it keeps.
  let read: (JSONNode) throws(ArborError) -> Value

  init(
    _ attribute: ExchangeAttribute, at slots: PropertySlots, routes: [ItemRoute],
    takesPlainValues: Bool = false, read: @escaping (JSONNode) throws(ArborError) -> Value
  ) {
    self.attribute = attribute
    self.slots = slots
    self.routes = routes
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
  let policy: MembershipPolicy
  let mapping: Members
  /// How its objects are named by keys; nil: items describe them.
  fileprivate(set) var reference: ItemReference?

  init(
    _ relationship: ExchangeRelationship, at slots: PropertySlots, routes: [ItemRoute],
    policy: MembershipPolicy, reference: ItemReference? = nil, mapping: @escaping Members
  ) {
    self.relationship = relationship
    self.slots = slots
    self.routes = routes
    self.policy = policy
    self.reference = reference
    self.mapping = mapping
  }
}

enum MembershipPolicy {
  /// They are deleted before the new ones are imported.
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
  /// What happens to a single item without its identity: it is an error, or makes a new object.
  /// In a list it is always an error.
  var singlesNeedIdentity = false
  /// Whether of items with one identity only the last in its list counts.
  var lastOfEqualsWins = false
  /// Whether a property without a value is cleared.
  var clearsAbsent = false
  /// Whether an object may stand for a list of one.
  var takesSinglesAsLists = false
  /// Whether an item that is null is left out.
  var dropsNull = false
  /// Whether the objects' own hooks are called.
  var callsHooks = false
  /// Whether a value of another kind than expected counts as null.
  var isLenient = false
  /// What every item goes through first; nil drops it.
  var validators: [@Sendable (JSONValue) -> JSONValue?] = []
}
