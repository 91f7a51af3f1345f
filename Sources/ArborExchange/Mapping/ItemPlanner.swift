import ArborJSON
import ArborModel

/// Reads items into a plan and collects the identities that they speak of.
///
/// JSON's depth bounds the recursion of items within items.
struct ItemPlanner {
  /// What has been read. Items are known by their indexes in it.
  var plan = ItemPlan()
  /// The items that validators have dropped.
  private(set) var droppedCount = 0
  /// The items whose identity somebody had asked for before.
  private var repetitionCount = 0

  /// What ends the planning, and the run that follows, before they are done.
  var limit: ExchangeLimit?
  /// Whether the outermost items have their keys in an object as members.
  var areKeyed = false

  /// Plans the items of a document, a list of them or a single one.
  ///
  /// - Parameter needsIdentity: Whether a single item has to have its identity.
  mutating func items(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, isList: Bool,
    needsIdentity: Bool = true
  ) throws(ArborError) -> [Int32] {
    if isList { return try items(nodes, mapping, within: nil) }
    guard let node = nodes.first else { return [] }
    guard needsIdentity else { return try item(node, mapping, within: nil).map { [$0] } ?? [] }
    return try single(node, mapping, within: nil).map { [$0] } ?? []
  }

  /// Plans a list of items.
  ///
  /// - Parameter owner: The relationship whose members they are; nil for the outermost.
  /// - Throws: ``ArborError`` `invalidDocument` at the first element that is no object, and
  ///   `missingIdentity` where items lack theirs.
  private mutating func items(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, within owner: ItemRelationship?
  ) throws(ArborError) -> [Int32] {
    var items: [Int32] = []
    items.reserveCapacity(nodes.count)
    mapping.table?.reserve(nodes.count)
    let repetitions = repetitionCount
    for node in nodes {
      if owner != nil, mapping.rules.skipsNullMembers, node.isNull { continue }
      if let item = try item(node, mapping, within: owner) { items.append(item) }
    }
    guard mapping.isIdentified else { return items }
    if items.contains(where: { plan.items[Int($0)].key < 0 }) {
      let unidentified = items.filter { plan.items[Int($0)].key < 0 }
      guard let drops = mapping.rules.drops else { throw missingIdentity(unidentified, mapping) }
      for item in unidentified { drops.add { missingIdentity([item], mapping) } }
      items.removeAll { plan.items[Int($0)].key < 0 }
    }
    let mayRepeat = mapping.rules.lastOfEqualsWins && repetitionCount > repetitions
    return mayRepeat ? lastOfEquals(items) : items
  }

  /// Plans a single item; nil where a validator drops it, or, leniently, where it is not an object
  /// or lacks its identity.
  private mutating func single(
    _ node: JSONNode, _ mapping: ItemMapping, within owner: ItemRelationship?
  ) throws(ArborError) -> Int32? {
    guard let item = try item(node, mapping, within: owner) else { return nil }
    guard plan.items[Int(item)].key < 0, mapping.isIdentified else { return item }
    guard let drops = mapping.rules.drops else { throw missingIdentity([item], mapping) }
    drops.add { missingIdentity([item], mapping) }
    return nil
  }

  private mutating func item(
    _ node: JSONNode, _ mapping: ItemMapping, within owner: ItemRelationship?
  ) throws(ArborError) -> Int32? {
    try limit?.check()
    guard let (valid, origin) = try validated(node, mapping) else {
      droppedCount += 1
      return nil
    }
    guard valid.kind == .object else {
      func problem() -> ArborError {
        node.error(
          "An item of \(mapping.entity.name) is an object, and this is \(valid.kind); write its "
            + "properties in braces."
        ).with(entity: mapping.entity.name, offending: valid.value.text())
      }
      guard let drops = mapping.rules.drops else { throw problem() }
      drops.add(problem)
      return nil
    }
    do throws(ArborError) {
      return try enter(valid, mapping, origin, within: owner)
    } catch {
      throw origin.map { error.with(location: $0.location) } ?? error
    }
  }

  private mutating func enter(
    _ node: JSONNode, _ mapping: ItemMapping, _ origin: JSONNode?, within owner: ItemRelationship?
  ) throws(ArborError) -> Int32 {
    let isOutermost = owner == nil
    let isWithinParent = mapping.isParent(owner)
    let values = plan.values.count
    try mapping.look(at: node, keyed: areKeyed && isOutermost, &plan.values)
    let key = try key(mapping, node.document, values)
    let links = plan.links.count
    let members = values + mapping.attributes.count
    for (index, relationship) in mapping.relationships.enumerated() {
      if let reference = relationship.reference {
        plan.links.append(reference.link(of: node, &plan) { mapping.value(of: $0) })
        if isOutermost { reference.noteUse { mapping.value(of: $0) } }
      } else {
        plan.links.append(ItemPlan.Link(node: plan.values[members + index]))
      }
    }
    let index = plan.items.count
    plan.items.append(
      ItemPlan.Item(
        mapping: plan.index(of: mapping), document: plan.index(of: node.document),
        node: Int32(node.tapeIndex), key: key, isWithinParent: isWithinParent,
        values: Int32(values), links: Int32(links),
        origin: origin.map { plan.index(ofOrigin: $0) } ?? -1))
    // From here on items within this one are looked at.
    for (number, relationship) in mapping.relationships.enumerated()
    where plan.links[links + number].node > 0 && relationship.reference == nil {
      try enterMembers(of: relationship, at: links + number, in: node, mapping)
    }
    if mapping.table?.parent != nil, !isWithinParent, parentKey(plan.items[index]) == nil {
      plan.items[index].key = -1
    }
    return Int32(index)
  }

  /// What names the parent that an item itself has as a part of its identity; nil where it has none.
  private func parentKey(_ item: ItemPlan.Item) -> ParentKey? {
    guard let parent = plan.mappings[Int(item.mapping)].parent else { return nil }
    let link = plan.links[Int(item.links) + parent]
    switch link.kind {
    case .one where link.first >= 0:
      let parent = plan.items[Int(link.first)]
      return parent.key < 0
        ? .item(link.first) : .described(mapping: parent.mapping, key: parent.key)
    case .named where link.count == 1 && plan.targets[Int(link.first)] > 0:
      return .named(plan.targets[Int(link.first) + 1])
    case .absent, .null, .one, .list, .named: return nil
    }
  }

  private enum ParentKey: Hashable {
    case item(Int32)
    case described(mapping: Int32, key: Int32)
    case named(Int32)
  }

  private mutating func enterMembers(
    of relationship: ItemRelationship, at link: Int, in node: JSONNode, _ mapping: ItemMapping
  ) throws(ArborError) {
    let value = JSONNode(document: node.document, tapeIndex: Int(plan.links[link].node))
    do throws(ArborError) {
      plan.links[link] = try members(value, of: relationship, in: node, mapping.rules)
    } catch {
      // What lies deeper has named its own entity.
      guard error.entity == nil else { throw error }
      throw error.with(entity: mapping.entity.name, keyPath: relationship.relationship.name)
    }
  }

  private mutating func members(
    _ value: JSONNode, of relationship: ItemRelationship, in node: JSONNode, _ rules: ItemRules
  ) throws(ArborError) -> ItemPlan.Link {
    var link = ItemPlan.Link(kind: .null, node: Int32(value.tapeIndex))
    let isToMany = relationship.relationship.isToMany
    switch value.kind {
    case .null: break
    case .object where !isToMany || rules.takesSinglesAsLists:
      let mapping = try relationship.mapping(value, node)
      link.mapping = plan.index(of: mapping)
      let item = try single(value, mapping, within: relationship)
      if item == nil, rules.drops != nil {
        link.kind = .absent
        break
      }
      if isToMany { enter(item.map { [$0] } ?? [], &link) } else { enter(item, &link) }
    case .array where isToMany:
      let mapping = try relationship.mapping(value, node)
      link.mapping = plan.index(of: mapping)
      enter(try items(value.items, mapping, within: relationship), &link)
    default:
      func problem() -> ArborError {
        let expected = isToMany ? "a list of objects" : "an object"
        return value.error(
          "\(relationship.relationship.name) takes \(expected) or null, and this is \(value.kind); "
            + "write \(expected)."
        ).with(
          entity: relationship.relationship.entityName, keyPath: relationship.relationship.name,
          offending: value.value.text())
      }
      guard let drops = rules.drops else { throw problem() }
      drops.add(problem)
      link.kind = .absent
    }
    return link
  }

  private func enter(_ item: Int32?, _ link: inout ItemPlan.Link) {
    link.kind = .one
    link.first = item ?? -1
  }

  private mutating func enter(_ items: [Int32], _ link: inout ItemPlan.Link) {
    link.kind = .list
    link.first = plan.index(ofMembers: items)
    link.count = Int32(items.count)
  }

  /// The item after its validators, and the one of the document where they made another of it; nil
  /// where one drops it, or it is null.
  private func validated(
    _ node: JSONNode, _ mapping: ItemMapping
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

  /// The index in the mapping's table of an item's identity, which is asked for; -1 without one.
  ///
  /// - Parameter values: The index among the plan's values of the item's first one.
  private mutating func key(
    _ mapping: ItemMapping, _ document: JSONDocument, _ values: Int
  ) throws(ArborError) -> Int32 {
    guard let table = mapping.table else { return -1 }
    if mapping.identity.isEmpty { return want(.none, table) }
    var parts: [Value] = []
    for index in mapping.identity {
      let node = Int(plan.values[values + index])
      guard node > 0 else { return -1 }
      let value = JSONNode(document: document, tapeIndex: node)
      let attribute = mapping.attributes[index]
      if mapping.identity.count == 1, attribute.isPlainInteger64, let number = value.int64 {
        return want(.number(number), table)
      }
      let part = try attribute.read(value)
      if mapping.identity.count == 1 {
        return IdentityKey(part).map { want($0, table) } ?? -1
      }
      parts.append(part)
    }
    return IdentityKey(parts).map { want($0, table) } ?? -1
  }

  private mutating func want(_ key: IdentityKey, _ table: IdentityTable) -> Int32 {
    let (index, isNew) = table.want(key)
    if !isNew { repetitionCount += 1 }
    return Int32(index)
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

  /// How many items without their identity are shown; locations are counted in the document's
  /// lines, each from its beginning.
  private static let maximumListed = 20

  private func missingIdentity(_ items: [Int32], _ mapping: ItemMapping) -> ArborError {
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
