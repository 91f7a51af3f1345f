import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// Executes a plan in its context: each item's object is found or inserted, its attributes are set,
/// and it is connected with the objects of nested items.
///
/// | plan | carried out by | relationships |
/// |---|---|---|
/// | import, sync | ``carryOut(_:)`` | with each item; references by keys at the end |
/// | seed | ``carryOutAll()`` | at the end |
/// | value models | ``carryOutModels(of:)`` | at the end |
///
/// Runs inside a savepoint of the context, so that an error changes nothing.
final class ExchangeRun {
  /// The object that contains an item, and the relationship from it.
  struct Owner {
    let object: ManagedObject
    let relationship: MappedRelationship
  }

  let plan: ExchangePlan
  var counts = ExchangeCounts()
  /// The objects of items by index in the plan, for plans whose items refer to each other.
  var objects: [ManagedObject?] = []
  /// Relationships that are connected after all items have been processed.
  var deferred: [DeferredLink] = []
  /// The index of each object's item, by object number, for errors of a commit. `nil` if items
  /// aren't recorded.
  var itemsOfObjects: NumberMap?
  /// The items that describe or change each object, recorded by a lenient import.
  var trace: ItemTrace?
  /// The item locations of objects with relationships that earlier batches could not connect.
  var locationsOfWaiting: [ObjectNumber: ItemLocation] = [:]
  /// The number of items whose existing objects have been checked for belonging to a subentity.
  private var refinedCount = 0
  /// Objects that no item has described so far, to be deleted at the end.
  private var missing: [ManagedObject] = []
  /// The objects of nested items that have already been processed, because they are part of the
  /// identity of the containing item, by item index.
  var parents: [Int32: ManagedObject] = [:]

  init(_ plan: ExchangePlan) { self.plan = plan }

  /// Looks up the identities of planned items together and processes the items. Returns their
  /// objects in the order of the items.
  @discardableResult
  func carryOut(_ items: [Int32]) throws(ArborError) -> [ManagedObject] {
    try plan.fetchObjects()
    counts.reserve(items.count)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(items.count)
    try refineKnownItems()
    for item in items {
      let edits = trace == nil ? 0 : plan.context.editCount
      trace?.begin(item)
      try carryOutItem(item, within: nil, &objects)
      trace?.noteChanges(of: plan.context.changedObjects(sinceEdit: edits))
    }
    parents = [:]
    if deferred.isEmpty, itemsOfObjects == nil, trace == nil {
      plan.removeItems()
      refinedCount = 0
    }
    return objects
  }

  /// Reads the items that describe existing objects of subentities with the mappings of these, and
  /// looks up the identities of their nested items together.
  private func refineKnownItems() throws(ArborError) {
    guard plan.mayRefine else { return }
    while refinedCount < plan.items.count {
      let end = plan.items.count
      for index in refinedCount..<end {
        let item = plan.items[index]
        guard item.key >= 0, let table = plan.tables[Int(item.mapping)], table.parent == nil,
          let object = table.only(at: Int(item.key)),
          object.isKind(of: plan.mapping(of: item).entity)
        else { continue }
        // Whether an item is one of the outermost matters only for their keys in the document,
        // which are values of the parent entity.
        _ = try refine(Int32(index), for: object, within: nil)
      }
      refinedCount = end
      try plan.fetchObjects()
    }
  }

  /// Reads an item with the mapping of the subentity that an existing object belongs to. Returns
  /// `false` if it already has the right mapping.
  private func refine(
    _ index: Int32, for object: ManagedObject, within owner: MappedRelationship?
  ) throws(ArborError) -> Bool {
    let item = plan.items[Int(index)]
    let mapping = plan.mapping(of: item)
    let entity = object.entitySchema
    guard entity !== mapping.entity else { return false }
    guard object.isKind(of: mapping.entity) else {
      throw plan.origin(item).error(
        "The item describes an object of \(mapping.entity.name), but the object with its identity, "
          + "\(entity.name) \(object.objectID.number), belongs to \(entity.name). Correct the "
          + "item's entity or its identity."
      ).with(entity: mapping.entity.name, objectID: object.objectID)
    }
    var refined: ExchangeMapping?
    if let refinement = plan.refinement {
      refined = try refinement(mapping, entity)
    } else {
      refined = try mapping.choice?.mapping(entity)
    }
    guard let refined, refined !== mapping else { return false }
    try plan.refine(index, by: refined, within: owner)
    return true
  }

  /// Imports a planned item into an existing object, ignoring the item's identity.
  func carryOutItem(_ index: Int32, into object: ManagedObject) throws(ArborError) {
    try plan.fetchObjects()
    let edits = trace == nil ? 0 : plan.context.editCount
    trace?.begin(index)
    trace?.note(object.objectNumber, describedBy: index)
    let item = plan.items[Int(index)]
    let mapping = plan.mapping(of: item)
    if mapping.entity !== object.entitySchema { _ = try refine(index, for: object, within: nil) }
    let changed = try fill(object, item, mapping, isNew: false)
    trace?.noteChanges(of: plan.context.changedObjects(sinceEdit: edits))
    counts.noteMatched(object, changed: changed)
  }

  /// Processes all items in the order of the plan and then connects them, because any item may
  /// refer to any other.
  func carryOutAll() throws(ArborError) {
    objects.reserveCapacity(plan.items.count)
    for index in plan.items.indices {
      var found: [ManagedObject] = []
      try carryOutItem(Int32(index), within: nil, &found)
      objects.append(found.first)
    }
    // All objects of the plan have been inserted with their values, so a single lookup finds
    // everything.
    try plan.fetchObjects()
    try connectDeferred(unknownKey: .isError)
  }

  // MARK: Items

  /// Processes one item. Appends its objects: several if they share its identity, none if no object
  /// exists and inserting isn't allowed.
  func carryOutItem(
    _ index: Int32, within owner: Owner?, _ objects: inout [ManagedObject]
  ) throws(ArborError) {
    try plan.limit.check()
    var item = plan.items[Int(index)]
    var mapping = plan.mapping(of: item)
    let first = objects.count
    do throws(ArborError) {
      var parent: ManagedObject?
      let table = item.key < 0 ? nil : plan.tables[Int(item.mapping)]
      if let table {
        if table.parent != nil {
          parent = item.isWithinParent ? owner?.object : try self.parent(of: item, mapping)
        }
        if table.parent == nil, let only = table.only(at: Int(item.key)) {
          objects.append(only)
        } else {
          objects += try existing(item, table, parent)
        }
      }
      for position in first..<objects.count {
        if objects[position].entitySchema !== mapping.entity,
          try refine(index, for: objects[position], within: owner?.relationship)
        {
          item = plan.items[Int(index)]
          mapping = plan.mapping(of: item)
          try plan.fetchObjects()
        }
        let changed =
          mapping.rules.updatesExisting
          ? try fill(objects[position], item, mapping, isNew: false) : false
        counts.noteMatched(objects[position], changed: changed)
      }
      if objects.count == first, mapping.rules.insertsMissing {
        let object = try insert(item, mapping)
        if let parent { table?.note(object, at: Int(item.key), of: parent) }
        try fill(object, item, mapping, isNew: true)
        objects.append(object)
      }
    } catch {
      throw item.origin < 0 ? error : error.with(location: plan.origin(item).location)
    }
    guard itemsOfObjects != nil || trace != nil else { return }
    for position in first..<objects.count {
      itemsOfObjects?.set(objects[position].objectNumber, UInt(index))
      trace?.note(objects[position].objectNumber, describedBy: index)
    }
  }

  /// Returns the existing objects that an item describes.
  func existing(
    _ item: ExchangePlan.Item, _ table: IdentityTable, _ parent: ManagedObject?
  ) throws(ArborError) -> [ManagedObject] {
    let key = Int(item.key)
    guard table.parent != nil else { return table.objects(at: key) }
    guard let parent else { return [] }
    return try table.objects(at: key, of: parent)
  }

  /// Returns the object that is part of an item's identity, according to the item itself, or `nil`
  /// if the item doesn't refer to one.
  private func parent(
    of item: ExchangePlan.Item, _ mapping: ExchangeMapping
  ) throws(ArborError) -> ManagedObject? {
    guard let relationship = mapping.parent,
      let link = item.links.first(where: { plan.links[$0].relationship == relationship }),
      let member = plan.members(of: plan.links[link]).first
    else { return nil }
    switch member {
    case .item(let index):
      var objects: [ManagedObject] = []
      try carryOutItem(index, within: nil, &objects)
      parents[index] = objects.first
      return objects.first
    case .named, .labelled, .group: return namedObject(member)
    }
  }

  private func insert(
    _ item: ExchangePlan.Item, _ mapping: ExchangeMapping
  ) throws(ArborError) -> ManagedObject {
    if mapping.entity.isAbstract, let choice = mapping.choice {
      throw choice.abstraction(of: plan.origin(item))
    }
    do throws(ArborError) {
      let object = try plan.context.insert(mapping.entity.name)
      counts.noteInserted(object)
      return object
    } catch {
      throw error.located(mapping.entity.name, nil, at: plan.node(item, item.node).location)
    }
  }

  /// Sets the attributes and relationships of an object from its item.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  private func fill(
    _ object: ManagedObject, _ item: ExchangePlan.Item, _ mapping: ExchangeMapping, isNew: Bool
  ) throws(ArborError) -> Bool {
    let callsHooks = mapping.rules.callsHooks
    let hasHooks = callsHooks && object.overridesImportValue
    // A single node for all values, so that the document is retained only once.
    var node = plan.node(item, item.node)
    var changed = false
    for index in mapping.shapes.indices {
      node.tapeIndex = Int(plan.values[Int(item.values) + index])
      if node.tapeIndex == 0, !mapping.rules.clearsAbsent { continue }
      let hasChanged =
        node.tapeIndex == 0
        ? try assign(.null, to: mapping.attributes[index], of: object, isNew)
        : try set(index, of: object, to: node, mapping, hasHooks, isNew)
      if hasChanged { changed = true }
    }
    // From here on, items may refer to the object.
    if isNew {
      let table = item.key < 0 ? nil : plan.tables[Int(item.mapping)]
      let guess = table.flatMap { $0.parent == nil ? ($0, index: Int(item.key)) : nil }
      try plan.note(object, of: mapping.entity, guess: guess)
    }
    for link in item.links {
      if try connect(object, plan.links[link], item, mapping) { changed = true }
    }
    if callsHooks, object.overridesDidImport {
      _ = plan.node(item, item.node).tell {
        object.didImport(from: $0)
        return true
      }
    }
    return changed
  }

  // MARK: Values

  /// Sets the attribute at an index of the mapping to a value of the document, without conversion
  /// if possible.
  private func set(
    _ index: Int, of object: ManagedObject, to node: JSONNode, _ mapping: ExchangeMapping,
    _ hasHooks: Bool, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    if let source = mapping.rules.uniqueIDs, node.isText(SeedReader.uniqueID) {
      let attribute = mapping.attributes[index]
      return try drawUniqueID(source, for: attribute, of: object, at: node, mapping)
    }
    let shape = mapping.shapes[index]
    var isTold = !hasHooks
    var reception = ManagedObject.Reception.unfit
    switch shape.plainForm {
    case .date:
      let attribute = mapping.attributes[index]
      guard let date = attribute.coder.date(node) else { break }
      if !isTold, Self.tell(object, .date(date), node, attribute.name) { return !isNew }
      isTold = true
      reception = try object.receive(date, atSlot: shape.slot)
    case .text where node.kind == .string, .number:
      if !isTold,
        node.tell({ object.importValue($0, forKey: mapping.attributes[index].name) })
      {
        return !isNew
      }
      isTold = true
      reception = try object.receive(node, atSlot: shape.slot)
    case .text, nil: break
    }
    switch reception {
    case .changed: return true
    case .same: return false
    case .unfit:
      let attribute = mapping.attributes[index]
      return try setRead(attribute, of: object, to: node, mapping, isTold, isNew)
    }
  }

  /// Sets an attribute to a value that must be converted.
  private func setRead(
    _ attribute: MappedAttribute, of object: ManagedObject, to node: JSONNode,
    _ mapping: ExchangeMapping, _ isTold: Bool, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    let name = attribute.name
    let value: PropertyValue
    if let read = attribute.value(node) {
      value = read
    } else if let drops = plan.drops {
      // An item with an unreadable identity is counted separately.
      if !attribute.identifies { drops.add { attribute.coder.problem(with: node) } }
      value = .null
    } else {
      if !isTold, node.tell({ object.importValue($0, forKey: name) }) { return !isNew }
      throw attribute.coder.problem(with: node)
    }
    if !isTold, Self.tell(object, value, node, name) { return !isNew }
    do throws(ArborError) {
      return try assign(value, to: attribute, of: object, isNew)
    } catch {
      throw error.located(mapping.entity.name, name, at: node.location)
    }
  }

  /// Sets an attribute to a new unique number.
  private func drawUniqueID(
    _ source: SeedOptions.UniqueIDSource, for attribute: MappedAttribute, of object: ManagedObject,
    at node: JSONNode, _ mapping: ExchangeMapping
  ) throws(ArborError) -> Bool {
    do throws(ArborError) {
      let number =
        switch source {
        case .store: try plan.context.store.uniqueIDs.next()
        case .application: try UniqueIDGenerator.generateUniqueID()
        }
      guard let value = attribute.coder.kind.unique(number) else {
        throw ArborError(
          .limitExceeded,
          "The unique number \(number) doesn't fit \(mapping.entity.name).\(attribute.name). Make "
            + "the attribute a 64-bit integer.")
      }
      return try assign(value, to: attribute, of: object, true)
    } catch {
      throw error.located(mapping.entity.name, attribute.name, at: node.location)
    }
  }

  /// Sets an attribute. Returns `false` if it already has the value.
  private func assign(
    _ value: PropertyValue, to attribute: MappedAttribute, of object: ManagedObject, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    if !isNew, object.value(atSlot: attribute.slot).isIdentical(to: value) { return false }
    if attribute.coder.isDerived {
      try object.setValue(value, forKey: attribute.name)
    } else {
      try object.setValue(value, atSlot: attribute.slot)
    }
    return true
  }

  /// Calls an object's hook with a value, using a uniform format for dates. Returns `false` if the
  /// object hasn't handled it.
  private static func tell(
    _ object: ManagedObject, _ value: PropertyValue, _ node: JSONNode, _ name: String
  ) -> Bool {
    switch value {
    case .string(let text): object.importValue(.string(text), forKey: name)
    case .date(let date): object.importValue(.string(ISO8601Date.milliseconds(date)), forKey: name)
    default: node.tell { object.importValue($0, forKey: name) }
    }
  }

  // MARK: Objects that no item describes

  /// Records objects within a scope that are to be deleted unless an item describes them.
  func noteMissing(
    _ objects: [ManagedObject], within scope: FetchPredicate?
  ) throws(ArborError) {
    for object in objects {
      if try isOpen(object, within: scope) { missing.append(object) }
    }
  }

  /// Returns whether an object may have to be deleted.
  ///
  /// Not inlined, because the optimizer of Swift 6.3 loses the object between two errors.
  @inline(never)
  private func isOpen(
    _ object: ManagedObject, within scope: FetchPredicate?
  ) throws(ArborError) -> Bool {
    try plan.limit.check()
    return try scope?.matches(object) ?? true
  }

  /// Deletes objects that no item has described. Called once, after all items have been processed,
  /// because an object missing from one list may be in another.
  func deleteMissing() throws(ArborError) {
    for object in missing where !object.isDeleted && !counts.hasTouched(object) {
      try plan.limit.check()
      delete(object)
    }
    missing = []
  }

  func delete(_ object: ManagedObject) {
    plan.context.delete(object)
    counts.deleted += 1
  }
}

extension [ManagedObject] {
  /// The objects in order, without duplicates.
  var eachOnce: [ManagedObject] {
    guard count > 1 else { return self }
    var seen: Set<ManagedObject> = []
    return filter { seen.insert($0).inserted }
  }
}

extension ArborError {
  /// Returns the error with entity, property and location added where they are missing.
  func located(
    _ entity: String, _ property: String?, at location: @autoclosure () -> SourceLocation?
  ) -> ArborError {
    with(
      entity: self.entity ?? entity, keyPath: keyPath ?? property,
      location: self.location ?? location())
  }
}
