import ArborJSON
import ArborModel

/// Reads items of JSON into a plan and collects their identities.
///
/// JSON's depth bounds the recursion of items within items.
final class ItemPlanner {
  let plan: ExchangePlan
  /// The items that validators have dropped.
  private(set) var droppedCount = 0
  /// The items whose identity was asked for before.
  private var repetitionCount = 0
  /// Ends the planning before it is done.
  private let limit: ExchangeLimit
  /// Whether the outermost items have their keys in an object as members.
  private let areKeyed: Bool

  init(_ plan: ExchangePlan, _ limit: ExchangeLimit, areKeyed: Bool = false) {
    self.plan = plan
    self.limit = limit
    self.areKeyed = areKeyed
  }

  /// Plans a list of items; returns their indexes in the plan.
  ///
  /// - Parameter owner: The relationship whose members they are; `nil` for the outermost.
  /// - Throws: ``ArborError`` `invalidDocument` at the first element that is not an object, and
  ///   `missingIdentity` if items lack theirs.
  func items(
    _ nodes: some Collection<JSONNode>, _ mapping: ExchangeMapping,
    within owner: MappedRelationship? = nil
  ) throws(ArborError) -> [Int32] {
    var items: [Int32] = []
    items.reserveCapacity(nodes.count)
    let number = plan.index(of: mapping)
    plan.tables[Int(number)]?.reserve(nodes.count)
    let repetitions = repetitionCount
    for node in nodes {
      if owner != nil, mapping.rules.skipsNullMembers, node.isNull { continue }
      if let item = try item(node, mapping, within: owner) { items.append(item) }
    }
    guard mapping.identity != nil else { return items }
    if items.contains(where: { plan.items[Int($0)].key < 0 }) {
      let unidentified = items.filter { plan.items[Int($0)].key < 0 }
      guard let drops = plan.drops else { throw missingIdentity(unidentified, mapping) }
      for item in unidentified { drops.add { missingIdentity([item], mapping) } }
      items.removeAll { plan.items[Int($0)].key < 0 }
    }
    let mayRepeat = mapping.rules.lastOfEqualsWins && repetitionCount > repetitions
    return mayRepeat ? lastOfEquals(items) : items
  }

  /// Plans a single item; `nil` if a validator drops it, or, leniently, if it is not an object or
  /// lacks its identity.
  func single(
    _ node: JSONNode, _ mapping: ExchangeMapping, within owner: MappedRelationship? = nil
  ) throws(ArborError) -> Int32? {
    guard let item = try item(node, mapping, within: owner) else { return nil }
    guard plan.items[Int(item)].key < 0, mapping.identity != nil else { return item }
    guard let drops = plan.drops else { throw missingIdentity([item], mapping) }
    drops.add { missingIdentity([item], mapping) }
    return nil
  }

  /// Plans an item, whether or not it has its identity.
  func item(
    _ node: JSONNode, _ mapping: ExchangeMapping, within owner: MappedRelationship? = nil
  ) throws(ArborError) -> Int32? {
    try limit.check()
    var valid = node
    var origin: JSONNode?
    if mapping.rules.dropsNull || !mapping.rules.validators.isEmpty {
      guard let result = try validated(node, mapping) else {
        droppedCount += 1
        return nil
      }
      (valid, origin) = result
    }
    guard valid.kind == .object else {
      func problem() -> ArborError {
        node.error(
          "An item of \(mapping.entity.name) is an object, and this is \(valid.kind); write its "
            + "properties in braces."
        ).with(entity: mapping.entity.name, offending: valid.value.text())
      }
      guard let drops = plan.drops else { throw problem() }
      drops.add(problem)
      return nil
    }
    do throws(ArborError) {
      return try enter(valid, mapping, origin, within: owner)
    } catch {
      throw origin.map { error.with(location: $0.location) } ?? error
    }
  }

  private func enter(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ origin: JSONNode?,
    within owner: MappedRelationship?
  ) throws(ArborError) -> Int32 {
    let isOutermost = owner == nil
    let number = plan.index(of: mapping)
    let values = plan.values.count
    try mapping.scanner.scan(node, keyed: areKeyed && isOutermost, &plan.values)
    let isWithinParent = mapping.isIdentified(within: owner)
    let key = try key(mapping, plan.tables[Int(number)], node.document, values)
    let firstLink = plan.links.count
    let members = values + mapping.attributes.count
    for (index, relationship) in mapping.relationships.enumerated() {
      let link: ExchangePlan.Link
      if let reference = relationship.reference,
        let table = plan.referenceTable(number, index)
      {
        link = reference.link(of: node, at: index, table, in: plan) {
          mapping.scanner.value(of: $0)
        }
        if isOutermost { reference.noteUse { mapping.scanner.value(of: $0) } }
      } else {
        let value = plan.values[members + index]
        // What it says is read when the item is complete.
        link = ExchangePlan.Link(
          relationship: Int32(index), content: value > 0 ? .null : .absent, node: value)
      }
      if link.content != .absent || mapping.rules.clearsAbsent { plan.links.append(link) }
    }
    plan.values.removeLast(mapping.relationships.count)
    let index = plan.items.count
    plan.items.append(
      ExchangePlan.Item(
        mapping: number, document: plan.index(of: node.document), node: Int32(node.tapeIndex),
        key: key, isWithinParent: isWithinParent, values: Int32(values),
        firstLink: Int32(firstLink), linkCount: Int32(plan.links.count - firstLink),
        origin: origin.map { plan.index(ofOrigin: $0) } ?? -1))
    // From here on items within this one are scanned.
    for link in plan.items[index].links where plan.links[link].content != .absent {
      let relationship = mapping.relationships[Int(plan.links[link].relationship)]
      guard relationship.reference == nil else { continue }
      try enterMembers(of: relationship, at: link, in: node, mapping)
    }
    if mapping.identity?.parent != nil, !isWithinParent, parentKey(plan.items[index]) == nil {
      plan.items[index].key = -1
    }
    return Int32(index)
  }

  private func enterMembers(
    of relationship: MappedRelationship, at link: Int, in node: JSONNode,
    _ mapping: ExchangeMapping
  ) throws(ArborError) {
    let value = JSONNode(document: node.document, tapeIndex: Int(plan.links[link].node))
    do throws(ArborError) {
      plan.links[link] = try members(value, of: relationship, plan.links[link], in: node, mapping)
    } catch {
      // What lies deeper has named its own entity.
      guard error.entity == nil else { throw error }
      throw error.with(entity: mapping.entity.name, keyPath: relationship.name)
    }
  }

  private func members(
    _ value: JSONNode, of relationship: MappedRelationship, _ present: ExchangePlan.Link,
    in node: JSONNode, _ owner: ExchangeMapping
  ) throws(ArborError) -> ExchangePlan.Link {
    var link = present
    let isToMany = relationship.isToMany
    let isSingle = value.kind == .object && (!isToMany || owner.rules.takesSinglesAsLists)
    if isSingle || (value.kind == .array && isToMany),
      let mapping = try relationship.mapping(of: value, in: node)
    {
      link.mapping = plan.index(of: mapping)
      var items: [Int32] = []
      if isSingle {
        let item = try single(value, mapping, within: relationship)
        if item == nil, plan.drops != nil {
          link.content = .absent
          return link
        }
        if let item { items = [item] }
      } else {
        items = try self.items(value.items, mapping, within: relationship)
      }
      link.content = .members
      link.first = Int32(plan.members.count)
      link.count = Int32(items.count)
      for item in items { plan.members.append(.item(item)) }
    } else if value.kind != .null {
      func problem() -> ArborError {
        let expected = isToMany ? "a list of objects" : "an object"
        return value.error(
          "\(relationship.name) takes \(expected) or null, and this is \(value.kind); write "
            + "\(expected)."
        ).with(
          entity: relationship.entityName, keyPath: relationship.name,
          offending: value.value.text())
      }
      guard let drops = plan.drops else { throw problem() }
      drops.add(problem)
      link.content = .absent
    }
    return link
  }

  /// The item after its validators, and the one of the document if they made another of it; `nil` if
  /// one drops it, or it is null.
  private func validated(
    _ node: JSONNode, _ mapping: ExchangeMapping
  ) throws(ArborError) -> (item: JSONNode, origin: JSONNode?)? {
    if mapping.rules.dropsNull, node.kind == .null { return nil }
    let validators = mapping.rules.validators
    guard !validators.isEmpty else { return (node, nil) }
    let original = node.value
    var item = original
    for validator in validators {
      guard let next = validator(item), !next.isNull else { return nil }
      item = next
    }
    if item == original { return (node, nil) }
    return (try JSONDocument(item.data()).root, node)
  }

  // MARK: Identities

  /// The index in the mapping's table of an item's identity, which is asked for; -1 without one.
  ///
  /// - Parameter values: The index among the plan's values of the item's first one.
  private func key(
    _ mapping: ExchangeMapping, _ table: IdentityTable?, _ document: JSONDocument, _ values: Int
  ) throws(ArborError) -> Int32 {
    guard let table, let identity = mapping.identity else { return -1 }
    if identity.attributes.isEmpty { return want(.none, table) }
    var parts: [PropertyValue] = []
    for index in identity.attributes {
      let node = Int(plan.values[values + index])
      guard node > 0 else { return -1 }
      let value = JSONNode(document: document, tapeIndex: node)
      let attribute = mapping.attributes[index]
      let isOnly = identity.attributes.count == 1
      if isOnly, attribute.isPlainInteger64, let number = value.int64 {
        return want(.number(number), table)
      }
      let part = try attribute.identity(value, isLenient: plan.drops != nil)
      if isOnly { return IdentityKey(part).map { want($0, table) } ?? -1 }
      parts.append(part)
    }
    return IdentityKey(parts).map { want($0, table) } ?? -1
  }

  private func want(_ key: IdentityKey, _ table: IdentityTable) -> Int32 {
    let (index, isNew) = table.want(key)
    if !isNew { repetitionCount += 1 }
    return Int32(index)
  }

  private enum ParentKey: Hashable {
    case item(Int32)
    case described(mapping: Int32, key: Int32)
    case named(Int32)
  }

  /// What names the parent that an item itself has as a part of its identity; `nil` if nothing does.
  private func parentKey(_ item: ExchangePlan.Item) -> ParentKey? {
    guard let parent = plan.mapping(of: item).parent,
      let link = item.links.first(where: { plan.links[$0].relationship == parent }),
      plan.links[link].count == 1
    else { return nil }
    switch plan.members[Int(plan.links[link].first)] {
    case .item(let index):
      let parent = plan.items[Int(index)]
      return parent.key < 0 ? .item(index) : .described(mapping: parent.mapping, key: parent.key)
    case .named(let name): return plan.keys(of: name).keys.first.map(ParentKey.named)
    case .labelled, .group: return nil
    }
  }

  /// The items without those whose identity a later one has too.
  private func lastOfEquals(_ items: [Int32]) -> [Int32] {
    let identities = items.map { index in
      let item = plan.items[Int(index)]
      return Identity(key: item.key, parent: item.isWithinParent ? nil : parentKey(item))
    }
    var last: [Identity: Int] = [:]
    for (index, identity) in identities.enumerated() { last[identity] = index }
    guard last.count < items.count else { return items }
    return items.indices.filter { last[identities[$0]] == $0 }.map { items[$0] }
  }

  private struct Identity: Hashable {
    let key: Int32
    let parent: ParentKey?
  }

  /// How many items without their identity are listed; locations are counted in the document's
  /// lines, each from its beginning.
  private static let maximumListed = 20

  private func missingIdentity(_ items: [Int32], _ mapping: ExchangeMapping) -> ArborError {
    let names = mapping.identityNames
    let entity = mapping.entity.name
    let identity = names.joined(separator: ", ")
    let origins = items.prefix(Self.maximumListed).map { plan.origin(plan.items[Int($0)]) }
    guard items.count > 1 else {
      return origins[0].error(
        "An item of \(entity) cannot be identified without \(identity); add it.",
        code: .missingIdentity
      ).with(entity: entity, keyPath: names[0])
    }
    let listed = items.count > origins.count ? " The first \(origins.count) are listed." : ""
    var error = origins[0].error(
      "\(items.count) items of \(entity) cannot be identified without \(identity); add it to each."
        + listed, code: .missingIdentity
    ).with(entity: entity, keyPath: names[0])
    error.violations = origins.map { origin in
      origin.error("The item has no \(identity); add it.", code: .missingIdentity)
        .with(entity: entity, keyPath: names[0])
    }
    return error
  }
}
