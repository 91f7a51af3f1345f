import ArborJSON
import ArborModel

/// Finds the values of a mapping's properties in items of JSON.
///
/// For one thread at a time: that of planning.
final class ItemScanner {
  private let entityName: String
  private let attributes: [MappedAttribute]
  private let relationships: [MappedRelationship]
  /// Finds the values under the first names of all routes.
  private let members: JSONMembers
  /// For each attribute and relationship the index of its key among ``members``; -1 if other routes
  /// than a single key lead to its value.
  private var plainKeys: [Int32] = []
  /// The other routes, by the index of their attribute or relationship.
  private var branchingRoutes: [(index: Int, routes: [ItemRoute])] = []
  /// The index among ``members`` of the name under which items have their keys; `nil` if they do
  /// not.
  private var suppliedKey: Int?
  /// For each attribute and relationship that no item has had so far, and whose place the model
  /// names, its index among both.
  private var unmet: [Int]
  /// Whether an item was scanned.
  private(set) var isUsed = false

  init(
    _ entityName: String, _ attributes: [MappedAttribute], _ relationships: [MappedRelationship]
  ) {
    self.entityName = entityName
    self.attributes = attributes
    self.relationships = relationships
    unmet =
      attributes.indices.filter { attributes[$0].isNamed }
      + relationships.indices.filter { relationships[$0].isNamed }.map { attributes.count + $0 }
    let routes =
      attributes.flatMap(\.routes) + relationships.flatMap { $0.reference?.routes ?? $0.routes }
    members = JSONMembers(JSONKeyTable(Set(routes.compactMap(\.firstKey)).sorted()))
    // What a reference reads its keys find.
    let described = relationships.map { $0.reference == nil ? $0.routes : [] }
    for routes in attributes.map(\.routes) + described {
      if routes.count == 1, routes[0].steps.count == 1, let key = routes[0].firstKey,
        let index = members.table.keyIndex(of: key)
      {
        plainKeys.append(Int32(index))
      } else {
        if !routes.isEmpty {
          branchingRoutes.append((plainKeys.count, routes.map { $0.prepared(members.table) }))
        }
        plainKeys.append(-1)
      }
    }
    for relationship in relationships { relationship.reference?.prepare(members.table) }
  }

  /// Finds an item's values.
  ///
  /// - Parameters:
  ///   - isOutermost: Whether the item has its key in the document as a member, if a name was given
  ///     to ``supply(_:)``.
  ///   - nodes: Receives the tape indexes of the values of all attributes and all relationships,
  ///     in their order; 0 for one that the item does not have.
  /// - Throws: ``ArborError`` `invalidDocument` if a keyed item has a member of that name itself.
  func scan(_ item: JSONNode, isOutermost: Bool, _ nodes: inout [Int32]) throws(ArborError) {
    members.find(in: item)
    if isOutermost, let suppliedKey {
      let key = JSONNode(document: item.document, tapeIndex: item.tapeIndex - 1)
      guard members.supply(key, forKeyAt: suppliedKey) else {
        let name = members.table.keys[suppliedKey]
        throw key.error(
          "The item has its own member “\(name)”, which the layout uses for its key. Use another "
            + "name in the layout."
        ).with(entity: entityName)
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

  /// The value in the item scanned last that a route leads to.
  func value(of route: ItemRoute) -> JSONNode? { route.value(among: members) }

  /// The names of properties that no item has had, with the notes of their places.
  var unmetNames: [(property: String, key: String)] {
    unmet.map { index in
      let (name, routes) =
        index < attributes.count
        ? (attributes[index].name, attributes[index].routes)
        : (
          relationships[index - attributes.count].name,
          relationships[index - attributes.count].routes
        )
      return (name, routes.last?.description ?? name)
    }
  }

  /// Lets items that are values of an object have their keys there as members of a name.
  ///
  /// - Throws: ``ArborError`` `unknownName` if no property is read from such a member.
  func supply(_ name: String) throws(ArborError) {
    suppliedKey = members.table.keyIndex(of: name)
    guard suppliedKey == nil else { return }
    throw ArborError(
      .unknownName,
      "The layout puts the items' keys under “\(name)”, but no property of \(entityName) is read "
        + "from there. Use an attribute's name, or set it as the ImportName of one."
        + NearestName.hint(name, in: members.table.keys)
    ).with(entity: entityName, keyPath: name)
  }
}

/// The path from an item to one of its values: names of members and indexes in lists.
///
/// ```
/// name            the member
/// user.name       a member of a member
/// tags.0          the first element of a list
/// ```
struct ItemRoute: Hashable, CustomStringConvertible {
  enum Step: Hashable {
    /// A member of an object, or an element of a list where the name is its index.
    case key(String)
    case index(Int)
  }

  let steps: [Step]
  /// The index of the first step among prepared keys; `nil` if the route does not begin with a key.
  private var index: Int?

  init(_ steps: [Step]) { self.steps = steps }

  /// The route as notes of a model write it.
  var description: String {
    steps.map { step in
      switch step {
      case .key(let name): name
      case .index(let index): "\(index)"
      }
    }.joined(separator: ".")
  }

  var firstKey: String? {
    if case .key(let name)? = steps.first { name } else { nil }
  }

  /// The route with its beginning looked up, once for many items.
  func prepared(_ keys: JSONKeyTable) -> ItemRoute {
    var route = self
    route.index = firstKey.flatMap(keys.keyIndex(of:))
    return route
  }

  /// The tape index of the value that the route leads to from an object whose members have
  /// been found; 0 where none exists.
  func node(among members: JSONMembers) -> Int {
    guard let index else { return 0 }
    if steps.count == 1 { return members.node(at: index) }
    return value(among: members)?.tapeIndex ?? 0
  }

  /// The value that the route leads to from an object whose members have been found.
  func value(among members: JSONMembers) -> JSONNode? {
    guard let index, let first = members[index] else { return nil }
    return steps.count == 1 ? first : Self.value(in: first, steps.dropFirst())
  }

  /// The routes that a note of the model contains, those first that win: commas separate alternatives,
  /// and each is a ``JSONMemberPath``.
  static func alternatives(_ note: String) -> [ItemRoute] {
    JSONMemberPath.alternatives(note).flatMap { path in
      (path.wholeKey.map { [ItemRoute([.key($0)])] } ?? [])
        + [ItemRoute(path.names.map(Step.key))]
    }
  }

  private static func value(in node: JSONNode, _ steps: ArraySlice<Step>) -> JSONNode? {
    var node = node
    for step in steps {
      let next =
        switch step {
        case .key(let name): node.child(name)
        case .index(let index): node.element(at: index)
        }
      guard let next else { return nil }
      node = next
    }
    return node
  }
}
