import ArborJSON
import ArborModel

/// Finds the values of a mapping's properties in JSON items.
///
/// Used on one thread at a time, during planning.
final class ItemScanner {
  private let entityName: String
  private let attributes: [MappedAttribute]
  private let relationships: [MappedRelationship]
  /// The members with the first keys of all routes, as found in the most recently scanned item.
  private let members: JSONMembers
  /// For each attribute and relationship, the index of its key in ``members``, or -1 if its routes
  /// don't consist of a single key.
  private var plainKeys: [Int32] = []
  /// The other routes, by index of their attribute or relationship.
  private var branchingRoutes: [(index: Int, routes: [ItemRoute])] = []
  /// The index in ``members`` of the name under which items receive their keys, or `nil` if they
  /// don't.
  private var suppliedKey: Int?
  /// The indexes of attributes and relationships whose path is specified in the model and for which
  /// no item has had a value so far.
  private var unmet: [Int]
  /// Whether any item has been scanned.
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
    // References that compose their keys of several values look these up themselves.
    let described = relationships.map { $0.reference.map { $0.plainRoutes ?? [] } ?? $0.routes }
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
  ///   - isOutermost: Whether the item receives its key in the document as a member, if a name was
  ///     specified by ``supply(_:)``.
  ///   - nodes: Receives the tape indexes of the values of all attributes and relationships in
  ///     order, or 0 for missing ones.
  /// - Throws: ``ArborError`` `invalidDocument` if a keyed item already has a member of that name.
  func scan(_ item: JSONNode, isOutermost: Bool, _ nodes: inout [Int32]) throws(ArborError) {
    members.find(in: item)
    if isOutermost, let suppliedKey {
      let key = JSONNode(document: item.document, tapeIndex: item.tapeIndex - 1)
      guard members.supply(key, forKeyAt: suppliedKey) else {
        let name = members.table.keys[suppliedKey]
        throw key.error(
          "The item has its own member “\(name)”, which the layout uses for the item's key. Use "
            + "another name in the layout."
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

  /// Returns the value of a route in the most recently scanned item, or `nil` if it is missing.
  func value(of route: ItemRoute) -> JSONNode? { route.value(among: members) }

  /// The properties for which no item has had a value, with their paths in the model.
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

  /// Supplies each outermost item with its key in the enclosing JSON object, as a member with the
  /// given name.
  ///
  /// - Throws: ``ArborError`` `unknownName` if no property is read from such a member.
  func supply(_ name: String) throws(ArborError) {
    suppliedKey = members.table.keyIndex(of: name)
    guard suppliedKey == nil else { return }
    throw ArborError(
      .unknownName,
      "The layout puts the items' keys under “\(name)”, but no property of \(entityName) is read "
        + "from “\(name)”. Use an attribute's name in the layout, or set “\(name)” as the "
        + "ImportName of an attribute."
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
    /// A member of an object, or an element of a list if the name is its index.
    case key(String)
    case index(Int)
  }

  let steps: [Step]
  /// The index of the first step among prepared keys, or `nil` if the route doesn't start with a
  /// key.
  private var index: Int?

  init(_ steps: [Step]) { self.steps = steps }

  /// The route as written in the model.
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

  /// Returns the route with its first key looked up, once for many items.
  func prepared(_ keys: JSONKeyTable) -> ItemRoute {
    var route = self
    route.index = firstKey.flatMap(keys.keyIndex(of:))
    return route
  }

  /// Returns the tape index of the route's value in an object whose members have been found, or 0
  /// if it doesn't exist.
  func node(among members: JSONMembers) -> Int {
    guard let index else { return 0 }
    if steps.count == 1 { return members.node(at: index) }
    return value(among: members)?.tapeIndex ?? 0
  }

  /// Returns the route's value in an object whose members have been found, or `nil` if it doesn't
  /// exist.
  func value(among members: JSONMembers) -> JSONNode? {
    guard let index, let first = members[index] else { return nil }
    return steps.count == 1 ? first : Self.value(in: first, steps.dropFirst())
  }

  /// Returns the route's value in an item, or `nil` if it doesn't exist.
  func value(in item: JSONNode) -> JSONNode? { Self.value(in: item, steps[...]) }

  /// Parses the routes in a model annotation, in order of precedence. Alternatives are separated by
  /// commas, and each is a ``JSONMemberPath``.
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
