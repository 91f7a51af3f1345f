import ArborModel
import Foundation

/// Reads items into plans and collects the identities that they speak of.
///
/// JSON's depth bounds the recursion of items within items.
struct ItemPlanner {
  /// The items that validators have dropped.
  private(set) var droppedCount = 0

  /// Plans the items of a document, a list of them or a single one.
  mutating func items(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, isList: Bool
  ) throws(ArborError) -> [PlannedItem] {
    if isList { return try items(nodes, mapping) }
    guard let node = nodes.first, let item = try single(node, mapping) else { return [] }
    return [item]
  }

  /// Plans a list of items.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` at the first element that is no object, and where
  ///   items lack their identity, for all of them.
  mutating func items(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping
  ) throws(ArborError) -> [PlannedItem] {
    var items: [PlannedItem] = []
    items.reserveCapacity(nodes.count)
    for node in nodes {
      if let item = try item(node, mapping) { items.append(item) }
    }
    guard !mapping.identity.isEmpty, mapping.table != nil else { return items }
    guard items.allSatisfy({ $0.key != nil }) else {
      // As one list: nothing of it is imported.
      if mapping.rules.isLenient { return [] }
      throw Self.missingIdentity(items.filter { $0.key == nil }, mapping)
    }
    let mayRepeat = mapping.rules.lastOfEqualsWins && items.contains { !$0.isFirst }
    return mayRepeat ? Self.lastOfEquals(items) : items
  }

  /// Plans a single item.
  ///
  /// - Returns: nil where a validator drops it, or, leniently, where it is no object.
  mutating func single(
    _ node: JSONNode, _ mapping: ItemMapping
  ) throws(ArborError) -> PlannedItem? {
    guard let item = try item(node, mapping) else { return nil }
    guard item.key == nil, mapping.rules.singlesNeedIdentity, !mapping.identity.isEmpty,
      mapping.table != nil
    else { return item }
    throw Self.missingIdentity([item], mapping)
  }

  private mutating func item(
    _ node: JSONNode, _ mapping: ItemMapping
  ) throws(ArborError) -> PlannedItem? {
    guard let (valid, origin) = try validated(node, mapping) else {
      droppedCount += 1
      return nil
    }
    guard valid.kind == .object else {
      if mapping.rules.isLenient { return nil }
      throw node.error(
        "An item of \(mapping.entity.name) is an object, and this is \(valid.kind); write its "
          + "properties in braces."
      ).with(entity: mapping.entity.name, offending: valid.value.text())
    }
    do throws(ArborError) {
      return try plan(valid, mapping, origin)
    } catch {
      throw origin.map { error.with(location: $0.location) } ?? error
    }
  }

  private mutating func plan(
    _ node: JSONNode, _ mapping: ItemMapping, _ origin: JSONNode?
  ) throws(ArborError) -> PlannedItem {
    mapping.look(at: node)
    let key = try Self.key(mapping)
    let isFirst = key.map { mapping.table?.want($0) ?? true } ?? true
    var links: [PlannedLinks] = []
    for place in mapping.relationships.indices {
      let relationship = mapping.relationships[place]
      do throws(ArborError) {
        let members: PlannedMembers
        if let reference = relationship.reference {
          members = reference.named(in: node) { mapping.value(of: $0) }
        } else {
          let value = mapping.value(of: relationship.routes)
          members = try self.members(value, of: relationship, in: node, mapping.rules)
          // Items within this one may be of the same mapping.
          if value != nil { mapping.look(at: node) }
        }
        if case .absent = members, !mapping.rules.clearsAbsent { continue }
        links.append(PlannedLinks(place: place, members: members))
      } catch {
        // What lies deeper has named its own entity.
        guard error.entity == nil else { throw error }
        throw error.with(entity: mapping.entity.name, keyPath: relationship.relationship.name)
      }
    }
    return PlannedItem(
      mapping: mapping, node: node, key: key, isFirst: isFirst, links: links, origin: origin)
  }

  private mutating func members(
    _ value: JSONNode?, of relationship: ItemRelationship, in node: JSONNode, _ rules: ItemRules
  ) throws(ArborError) -> PlannedMembers {
    guard let value else { return .absent }
    let isToMany = relationship.relationship.isToMany
    switch value.kind {
    case .null: return .null(value)
    case .object where !isToMany || rules.takesSinglesAsLists:
      let mapping = try relationship.mapping(value, node)
      let item = try single(value, mapping)
      guard isToMany else { return .one(item, mapping, value) }
      return .list(item.map { [$0] } ?? [], mapping, value)
    case .array where isToMany:
      let mapping = try relationship.mapping(value, node)
      return .list(try items(value.items, mapping), mapping, value)
    default:
      if rules.isLenient { return .null(value) }
      let expected = isToMany ? "a list of objects" : "an object"
      throw value.error(
        "\(relationship.relationship.name) takes \(expected) or null, and this is \(value.kind); "
          + "write \(expected)."
      ).with(offending: value.value.text())
    }
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
    return (try JSONDocument(Data(item.text().utf8)).root, node)
  }

  /// The identity of the item that its mapping looks at.
  private static func key(_ mapping: ItemMapping) throws(ArborError) -> IdentityKey? {
    guard mapping.table != nil else { return nil }
    func part(_ place: Int) throws(ArborError) -> Value? {
      let attribute = mapping.attributes[place]
      guard let node = mapping.value(of: attribute.routes) else { return nil }
      return try attribute.read(node)
    }
    if mapping.identity.count == 1 {
      return try part(mapping.identity[0]).flatMap { IdentityKey($0) }
    }
    var key: [Value] = []
    for place in mapping.identity {
      guard let part = try part(place) else { return nil }
      key.append(part)
    }
    return IdentityKey(key)
  }

  /// The items without those whose identity a later one has too.
  private static func lastOfEquals(_ items: [PlannedItem]) -> [PlannedItem] {
    var last: [IdentityKey: Int] = [:]
    for (place, item) in items.enumerated() {
      if let key = item.key { last[key] = place }
    }
    guard last.count < items.count else { return items }
    return items.enumerated().filter { $1.key.map { last[$0] } == $0 }.map(\.element)
  }

  private static func missingIdentity(
    _ items: [PlannedItem], _ mapping: ItemMapping
  ) -> ArborError {
    let names = mapping.identity.map { mapping.attributes[$0].attribute.name }
    let entity = mapping.entity.name
    let identity = names.joined(separator: ", ")
    var error = (items[0].origin ?? items[0].node).error(
      "\(items.count == 1 ? "An item" : "\(items.count) items") of \(entity) cannot be identified "
        + "without \(identity), so nothing was imported; add it to each."
    ).with(entity: entity, keyPath: names[0])
    guard items.count > 1 else { return error }
    error.violations = items.map { item in
      (item.origin ?? item.node).error("The item has no \(identity); add it.")
        .with(entity: entity, keyPath: names[0])
    }
    return error
  }
}
