import ArborJSON
import ArborModel

/// Adds JSON items to the plan and requests the lookup of their identities.
///
/// The depth limit of JSON bounds the recursion of nested items.
extension ExchangePlan {
  /// Adds a list of items. Returns their indexes. Items dropped by validators are skipped and, in a
  /// lenient exchange, also those that aren't objects or lack their identity.
  ///
  /// - Parameter owner: The relationship that contains them, or `nil` for the outermost items.
  /// - Throws: ``ArborError`` `invalidDocument` for the first element that isn't an object, and
  ///   `missingIdentity` if items lack their identity.
  func enterItems(
    _ nodes: JSONElements, _ mapping: ExchangeMapping, within owner: MappedRelationship? = nil
  ) throws(ArborError) -> [Int32] {
    var entered: [Int32] = []
    entered.reserveCapacity(nodes.count)
    let number = enterMapping(mapping)
    let table = tables[Int(number)]
    table?.reserve(nodes.count)
    let repetitions = table?.repetitions ?? 0
    let rules = mapping.rules
    for node in nodes {
      if owner != nil, rules.skipsNullMembers, node.isNull { continue }
      if owner == nil, !skippedItems.isEmpty, skippedItems.contains(node.offset) { continue }
      if let item = try enterChecked(node, mapping, number, within: owner) { entered.append(item) }
    }
    guard table != nil || mapping.choice != nil else { return entered }
    if entered.contains(where: { items[Int($0)].key < 0 }) {
      let unidentified = entered.filter(isUnidentified)
      if !unidentified.isEmpty {
        guard let drops else { throw missingIdentity(unidentified) }
        for item in unidentified { drops.add { missingIdentity([item]) } }
        entered.removeAll(where: isUnidentified)
      }
    }
    let mayRepeat =
      rules.lastOfEqualsWins && entered.count > 1
      && table.map { $0.repetitions > repetitions } ?? true
    return mayRepeat ? lastOfEquals(entered) : entered
  }

  /// Returns whether an item lacks the identity that its mapping requires.
  private func isUnidentified(_ index: Int32) -> Bool {
    items[Int(index)].key < 0 && mapping(of: items[Int(index)]).identity != nil
  }

  /// Adds a single item with its identity. Returns `nil` if it is null or dropped.
  private func enterIdentified(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ number: Int32, within owner: MappedRelationship
  ) throws(ArborError) -> Int32? {
    let item = try enterChecked(node, mapping, number, within: owner)
    guard let item, isUnidentified(item) else { return item }
    guard let drops else { throw missingIdentity([item]) }
    drops.add { missingIdentity([item]) }
    return nil
  }

  /// Adds an item after the checks of its mapping. Returns `nil` if it is null or dropped.
  private func enterChecked(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ number: Int32, within owner: MappedRelationship?
  ) throws(ArborError) -> Int32? {
    mapping.rules.dropsNull || !mapping.rules.validators.isEmpty
      ? try enterValidated(node, mapping, number, within: owner)
      : try enterItem(node, mapping, number, within: owner)
  }

  /// Adds an item after applying its validators. Returns `nil` if it is null or a validator drops
  /// it.
  private func enterValidated(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ number: Int32, within owner: MappedRelationship?
  ) throws(ArborError) -> Int32? {
    try limit.check()
    guard !node.isNull else {
      droppedCount += 1
      return nil
    }
    let original = mapping.rules.validators.isEmpty ? .null : node.value
    var item = original
    for validator in mapping.rules.validators {
      guard let next = validator(item), !next.isNull else {
        droppedCount += 1
        return nil
      }
      item = next
    }
    if item == original { return try enterItem(node, mapping, number, within: owner) }
    let valid = try JSONDocument(item.data()).root
    do throws(ArborError) {
      return try enterItem(valid, mapping, number, within: owner, insteadOf: node)
    } catch {
      throw error.with(location: node.location)
    }
  }

  /// Adds an item, even without its identity. Returns `nil` if it isn't an object and is skipped.
  ///
  /// - Parameters:
  ///   - number: The index of the mapping in the plan.
  ///   - origin: The original item, if a validator has replaced it.
  func enterItem(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ number: Int32,
    within owner: MappedRelationship? = nil, insteadOf origin: JSONNode? = nil
  ) throws(ArborError) -> Int32? {
    try limit.check()
    guard node.kind == .object else {
      func problem() -> ArborError {
        node.error(
          "Expected an object for an item of \(mapping.entity.name), but found \(node.kind)."
        ).with(entity: mapping.entity.name, offending: node.value.text())
      }
      guard let drops else { throw problem() }
      drops.add(problem)
      return nil
    }
    guard let choice = mapping.choice else {
      return try enterObject(node, mapping, number, within: owner, insteadOf: origin)
    }
    do throws(ArborError) {
      let chosen = try choice.mapping(for: node) ?? mapping
      return try enterObject(
        node, chosen, enterMapping(chosen), within: owner, insteadOf: origin)
    } catch {
      guard let drops, error.code == .invalidDocument, error.location == node.location else {
        throw error
      }
      drops.add { error }
      return nil
    }
  }

  /// Adds an item that is an object.
  private func enterObject(
    _ node: JSONNode, _ mapping: ExchangeMapping, _ number: Int32,
    within owner: MappedRelationship?, insteadOf origin: JSONNode? = nil
  ) throws(ArborError) -> Int32 {
    let firstValue = values.count
    try mapping.scanner.scan(node, isOutermost: owner == nil, &values)
    let isWithinParent = mapping.isIdentified(within: owner)
    let key = try key(mapping, tables[Int(number)], node, firstValue)
    let firstLink = links.count
    let firstMember = firstValue + mapping.attributes.count
    for index in mapping.areReferences.indices {
      let value = values[firstMember + index]
      let link: Link
      if mapping.areReferences[index], let reference = mapping.relationships[index].reference,
        let table = referenceTable(number, index)
      {
        link = reference.link(
          of: node, at: index, plainNode: value, table, in: self, mapping.scanner)
        if owner == nil { reference.noteUse(mapping.scanner) }
      } else {
        // The content is read when the item is complete.
        link = Link(
          relationship: Int32(index), content: value > 0 ? .null : .absent, node: value)
      }
      if link.content != .absent || mapping.rules.clearsAbsent { links.append(link) }
    }
    values.removeLast(mapping.areReferences.count)
    let item = items.count
    items.append(
      Item(
        mapping: number, document: enterDocument(node.document), node: Int32(node.tapeIndex),
        key: key, isWithinParent: isWithinParent, values: Int32(firstValue),
        firstLink: Int32(firstLink), linkCount: Int32(links.count - firstLink),
        origin: origin.map { enterOrigin($0) } ?? -1))
    // From here on nested items are scanned.
    for link in items[item].links where links[link].content != .absent {
      let index = Int(links[link].relationship)
      guard !mapping.areReferences[index] else { continue }
      try enterMembers(of: mapping.relationships[index], at: link, in: node, mapping)
    }
    if mapping.identity?.parent != nil, !isWithinParent, parentKey(items[item]) == nil {
      items[item].key = -1
    }
    return Int32(item)
  }

  /// Reads an item with the mapping of a subentity instead, because it describes an existing object
  /// of that entity. The item keeps its index and its identity.
  func refine(
    _ index: Int32, by mapping: ExchangeMapping, within owner: MappedRelationship?
  ) throws(ArborError) {
    let item = items[Int(index)]
    let refined = try enterObject(
      node(item, item.node), mapping, enterMapping(mapping), within: owner)
    items[Int(index)] = items[Int(refined)]
    items[Int(index)].key = item.key
    items[Int(index)].isWithinParent = item.isWithinParent
    items[Int(index)].origin = item.origin
  }

  /// Adds the members of a relationship of an item.
  private func enterMembers(
    of relationship: MappedRelationship, at index: Int, in node: JSONNode, _ owner: ExchangeMapping
  ) throws(ArborError) {
    var link = links[index]
    let value = JSONNode(document: node.document, tapeIndex: Int(link.node))
    let isToMany = relationship.isToMany
    let isSingle = value.kind == .object && (!isToMany || owner.rules.takesSinglesAsLists)
    do throws(ArborError) {
      if isSingle || (value.kind == .array && isToMany),
        let mapping = try relationship.members?(value, node)
      {
        link.mapping = enterMapping(mapping)
        if isSingle {
          let item = try enterIdentified(value, mapping, link.mapping, within: relationship)
          link.content = item == nil && drops != nil ? .absent : .members
          link.first = Int32(members.count)
          link.count = item == nil ? 0 : 1
          if let item { members.append(.item(item)) }
        } else {
          let entered = try enterItems(value.items, mapping, within: relationship)
          link.content = .members
          link.first = Int32(members.count)
          link.count = Int32(entered.count)
          for item in entered { members.append(.item(item)) }
        }
      } else if value.kind != .null {
        func problem() -> ArborError {
          let expected = isToMany ? "a list of objects" : "an object"
          return value.error(
            "Expected \(expected) or null for \(relationship.entityName).\(relationship.name), but "
              + "found \(value.kind)."
          ).with(
            entity: relationship.entityName, keyPath: relationship.name,
            offending: value.value.text())
        }
        guard let drops else { throw problem() }
        drops.add(problem)
        link.content = .absent
      }
    } catch {
      // Errors in nested items contain their own entity.
      let error =
        error.entity == nil
        ? error.with(entity: owner.entity.name, keyPath: relationship.name) : error
      throw error.location == nil ? error.with(location: value.location) : error
    }
    links[index] = link
  }

  // MARK: Identities

  /// Returns the index of an item's identity in the mapping's table and requests its lookup.
  /// Returns -1 if the item has no identity.
  ///
  /// - Parameter firstValue: The index of the item's first value.
  private func key(
    _ mapping: ExchangeMapping, _ table: IdentityTable?, _ item: JSONNode, _ firstValue: Int
  ) throws(ArborError) -> Int32 {
    guard let table else { return -1 }
    if let index = mapping.numberKey {
      let node = Int(values[firstValue + index])
      guard node > 0 else { return -1 }
      if let number = JSONNode(document: item.document, tapeIndex: node).int64 {
        return table.want(.number(number))
      }
    }
    if mapping.identityAttributes.isEmpty { return table.want(.none) }
    var parts: [PropertyValue] = []
    for index in mapping.identityAttributes {
      let node = Int(values[firstValue + index])
      guard node > 0 else { return -1 }
      let value = JSONNode(document: item.document, tapeIndex: node)
      parts.append(try mapping.attributes[index].identity(value, isLenient: drops != nil))
    }
    return IdentityKey(parts).map { table.want($0) } ?? -1
  }

  private enum ParentKey: Hashable {
    case item(Int32)
    case described(mapping: Int32, key: Int32)
    case named(Int32)
  }

  /// Returns the key of the parent that an item itself contains as part of its identity, or `nil`
  /// if it has none.
  private func parentKey(_ item: Item) -> ParentKey? {
    guard let parent = mapping(of: item).parent,
      let link = item.links.first(where: { links[$0].relationship == parent }),
      links[link].count == 1
    else { return nil }
    switch members[Int(links[link].first)] {
    case .item(let index):
      let parent = items[Int(index)]
      return parent.key < 0 ? .item(index) : .described(mapping: parent.mapping, key: parent.key)
    case .named(let name): return keys(of: name).keys.first.map(ParentKey.named)
    case .labelled, .group: return nil
    }
  }

  /// Returns the items without those whose identity is repeated by a later one.
  private func lastOfEquals(_ entered: [Int32]) -> [Int32] {
    let identities = entered.map { index in
      let item = items[Int(index)]
      return Identity(
        table: tables[Int(item.mapping)]?.index, key: item.key,
        parent: item.isWithinParent ? nil : parentKey(item))
    }
    var last: [Identity: Int] = [:]
    for (index, identity) in identities.enumerated() { last[identity] = index }
    guard last.count < entered.count else { return entered }
    return entered.indices.filter { identities[$0].key < 0 || last[identities[$0]] == $0 }
      .map { entered[$0] }
  }

  private struct Identity: Hashable {
    let table: Int?
    let key: Int32
    let parent: ParentKey?
  }

  /// The maximum number of listed items without identity. Limited because determining a location
  /// requires counting lines from the beginning of the document.
  private static let maximumListed = 20

  /// - Parameter entered: The items, at least one. All of them have the identity of the first.
  private func missingIdentity(_ entered: [Int32]) -> ArborError {
    let mapping = mapping(of: items[Int(entered[0])])
    let names = mapping.identityNames
    let entity = mapping.entity.name
    let identity = names.joined(separator: ", ")
    let origins = entered.prefix(Self.maximumListed).map { origin(items[Int($0)]) }
    guard entered.count > 1 else {
      if let unusable = unusableIdentity(items[Int(entered[0])], mapping) { return unusable }
      return origins[0].error(
        "An item of \(entity) lacks \(identity), which identifies the item. Add \(identity).",
        code: .missingIdentity
      ).with(entity: entity, keyPath: names[0])
    }
    let listed = entered.count > origins.count ? " The first \(origins.count) are listed." : ""
    var error = origins[0].error(
      "\(entered.count) items of \(entity) lack \(identity), which identifies an item. Add "
        + "\(identity) to each item."
        + listed, code: .missingIdentity
    ).with(entity: entity, keyPath: names[0])
    error.violations = zip(entered, origins).map { index, origin in
      unusableIdentity(items[Int(index)], mapping)
        ?? origin.error("The item has no \(identity). Add \(identity).", code: .missingIdentity)
        .with(entity: entity, keyPath: names[0])
    }
    return error
  }

  /// Returns the error for an item whose identity has a value of a type that counts as null, or
  /// `nil` if the item has no value.
  private func unusableIdentity(_ item: Item, _ mapping: ExchangeMapping) -> ArborError? {
    for index in mapping.identityAttributes {
      let value = node(item, values[Int(item.values) + index])
      guard value.tapeIndex > 0, !value.isNull else { continue }
      let coder = mapping.attributes[index].coder
      guard coder.key(value) ?? coder.value(value) ?? .null == .null else { continue }
      let problem = coder.problem(with: value)
      return ArborError(
        .missingIdentity, problem.message + " The value identifies the item. Correct it."
      ).with(
        entity: problem.entity, keyPath: problem.keyPath, location: problem.location,
        offending: problem.offendingValue)
    }
    return nil
  }
}
