import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// Carries planned items out in a context, one after the other: each is found or made, filled, and
/// connected with the objects of the items within it.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
///
/// What is called for each item is `mutating`, also where it changes nothing of the run itself: the
/// run is large, and a method that is not would be given a copy of it.
struct ItemRun {
  let context: ManagedObjectContext
  let identities: IdentityMap
  var counts = ExchangeCounts()
  /// Plans items, and keeps them.
  var planner = ItemPlanner()
  /// Objects that nobody has spoken of so far, and that are deleted at the end where nobody does.
  private var missing: [ManagedObject] = []
  /// The objects of items that were carried out for the identity of the item that they stand in.
  private var parents: [Int32: ManagedObject] = [:]
  /// Relationships whose objects may still be made by later items.
  var references: [PendingReference] = []
  /// The items of objects, by the objects' numbers, for errors of a commit; nil: they are not kept.
  var itemsOfObjects: NumberMap?
  /// Where the items stand of objects whose relationships earlier batches had to leave.
  var locationsOfWaiting: [ObjectNumber: ItemLocation] = [:]

  init(_ context: ManagedObjectContext, _ identities: IdentityMap) {
    self.context = context
    self.identities = identities
    planner.limit = ExchangeLimit(context)
  }

  /// Plans the items of a document, looks all their identities up together and carries them out;
  /// returns their objects in the order of the document.
  @discardableResult
  mutating func run(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, isList: Bool
  ) throws(ArborError) -> [ManagedObject] {
    try carryOut(plan(nodes, mapping, isList: isList))
  }

  /// Plans the items of a document, by their indexes in the plan; touches nothing in the context.
  mutating func plan(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, isList: Bool,
    needsIdentity: Bool = true
  ) throws(ArborError) -> [Int32] {
    let dropped = planner.droppedCount
    let items = try planner.items(nodes, mapping, isList: isList, needsIdentity: needsIdentity)
    counts.dropped += planner.droppedCount - dropped
    return items
  }

  /// Looks the identities of planned items up, together, and carries the items out; returns their
  /// objects in the order of the items.
  @discardableResult
  mutating func carryOut(_ items: [Int32]) throws(ArborError) -> [ManagedObject] {
    try identities.fetch()
    counts.reserve(items.count)
    let objects = try run(items, within: nil)
    parents = [:]
    if references.isEmpty, itemsOfObjects == nil { planner.plan.removeItems() }
    return objects
  }

  /// Carries a planned item out with an object that is there, whatever the item's identity.
  mutating func carryOut(_ index: Int32, into object: ManagedObject) throws(ArborError) {
    try identities.fetch()
    let item = planner.plan.items[Int(index)]
    try update(object, item, planner.plan.mappings[Int(item.mapping)])
  }

  /// Carries a list of items out; returns their objects in its order.
  ///
  /// - Parameter owner: The object whose members they are; nil for the outermost.
  mutating func run(
    _ items: some Collection<Int32>, within owner: ManagedObject?
  ) throws(ArborError) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(items.count)
    var others: [ManagedObject] = []
    for item in items {
      if let object = try run(item, within: owner, &others) { objects.append(object) }
      if !others.isEmpty {
        objects += others
        others = []
      }
    }
    return objects
  }

  /// Carries one item out; returns its object, the first where several share its identity, nil
  /// where none exists and none may be made.
  mutating func run(
    _ item: Int32, within owner: ManagedObject?
  ) throws(ArborError) -> ManagedObject? {
    if !parents.isEmpty, let known = parents.removeValue(forKey: item) { return known }
    var others: [ManagedObject] = []
    return try run(item, within: owner, &others)
  }

  /// Carries one item out; `others` receives what shares the identity of the object returned.
  private mutating func run(
    _ index: Int32, within owner: ManagedObject?, _ others: inout [ManagedObject]
  ) throws(ArborError) -> ManagedObject? {
    try planner.limit?.check()
    let item = planner.plan.items[Int(index)]
    do throws(ArborError) {
      let object = try carryOut(item, within: owner, &others)
      if let itemsOfObjects, let object {
        itemsOfObjects.set(object.objectNumber, UInt(index))
        for other in others { itemsOfObjects.set(other.objectNumber, UInt(index)) }
      }
      return object
    } catch {
      throw item.origin < 0 ? error : error.with(location: planner.plan.origin(item).location)
    }
  }

  private mutating func carryOut(
    _ item: ItemPlan.Item, within owner: ManagedObject?, _ others: inout [ManagedObject]
  ) throws(ArborError) -> ManagedObject? {
    let mapping = planner.plan.mappings[Int(item.mapping)]
    let key = Int(item.key)
    var parent: ManagedObject?
    if key >= 0, let table = mapping.table, table.parent != nil {
      parent = item.isWithinParent ? owner : try self.parent(of: item, mapping)
      let existing = try parent.map { (parent) throws(ArborError) in
        try table.objects(at: key, of: parent)
      }
      for object in existing ?? [] { try update(object, item, mapping) }
      if let existing, let first = existing.first {
        others = Array(existing.dropFirst())
        return first
      }
    } else if key >= 0, let table = mapping.table {
      if let only = table.only(at: key) {
        try update(only, item, mapping)
        return only
      }
      let existing = table.objects(at: key)
      for object in existing { try update(object, item, mapping) }
      if let first = existing.first {
        others = Array(existing.dropFirst())
        return first
      }
    }
    guard mapping.rules.insertsMissing else { return nil }
    let object: ManagedObject
    do throws(ArborError) {
      object = try context.insert(mapping.entity.name)
    } catch {
      throw error.located(mapping.entity.name, nil, at: planner.plan.node(item, item.node).location)
    }
    counts.noteInserted(object)
    if let parent { mapping.table?.note(object, at: key, of: parent) }
    try fill(object, item, mapping, isNew: true)
    return object
  }

  /// The object that is a part of an item's identity, as the item itself describes or names it.
  private mutating func parent(
    of item: ItemPlan.Item, _ mapping: ItemMapping
  ) throws(ArborError) -> ManagedObject? {
    guard let index = mapping.parent else { return nil }
    let link = planner.plan.links[Int(item.links) + index]
    if link.kind == .one {
      let parent = try run(link.first, within: nil)
      parents[link.first] = parent
      return parent
    }
    guard link.kind == .named, let table = mapping.relationships[index].reference?.table else {
      return nil
    }
    let keys = planner.plan.keys(of: link.count, from: link.first).first ?? []
    return keys.lazy.compactMap { table.first(at: Int($0)) }.first
  }

  private mutating func update(
    _ object: ManagedObject, _ item: ItemPlan.Item, _ mapping: ItemMapping
  ) throws(ArborError) {
    let updates = mapping.rules.updatesExisting
    let changed = updates ? try fill(object, item, mapping, isNew: false) : false
    counts.noteMatched(object, changed: changed)
  }

  /// - Returns: Whether anything has changed.
  @discardableResult
  private mutating func fill(
    _ object: ManagedObject, _ item: ItemPlan.Item, _ mapping: ItemMapping, isNew: Bool
  ) throws(ArborError) -> Bool {
    var changed = try setValues(of: object, item, mapping, isNew)
    // From here on items may lead to it.
    if isNew {
      let guess = mapping.table.flatMap {
        item.key < 0 || $0.parent != nil ? nil : ($0, index: Int(item.key))
      }
      try identities.note(object, of: mapping.entity, guess: guess)
    }
    for index in mapping.relationships.indices {
      let link = planner.plan.links[Int(item.links) + index]
      if case .absent = link.kind, !mapping.rules.clearsAbsent { continue }
      if try connect(object, mapping.relationships[index], link, item, mapping) { changed = true }
    }
    if mapping.rules.callsHooks, object.hearsOfImports {
      _ = planner.plan.node(item, item.node).tell {
        object.didImport(from: $0)
        return true
      }
    }
    return changed
  }

  private mutating func setValues(
    of object: ManagedObject, _ item: ItemPlan.Item, _ mapping: ItemMapping, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    let hasHooks = mapping.rules.callsHooks && object.takesImportedValues
    // One for all values, so that the document is retained once.
    var node = planner.plan.node(item, item.node)
    var changed = false
    for index in mapping.attributes.indices {
      node.tapeIndex = Int(planner.plan.values[Int(item.values) + index])
      if node.tapeIndex == 0, !mapping.rules.clearsAbsent { continue }
      let attribute = mapping.attributes[index]
      let hasChanged =
        node.tapeIndex == 0
        ? try assign(.null, to: attribute, of: object, isNew)
        : try set(attribute, of: object, to: node, mapping, hasHooks, isNew)
      if hasChanged { changed = true }
    }
    return changed
  }

  private mutating func set(
    _ attribute: ItemAttribute, of object: ManagedObject, to node: JSONNode,
    _ mapping: ItemMapping, _ hasHooks: Bool, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    var isTold = !hasHooks
    var reception = ManagedObject.Reception.unfit
    switch attribute.plainForm {
    case .date:
      guard let date = attribute.attribute.dates.date(node) else { break }
      if !isTold, Self.tell(object, .date(date), node, attribute.attribute.name) { return !isNew }
      isTold = true
      reception = try object.receive(date, at: attribute.slots)
    case .text where node.kind == .string, .number:
      if !isTold, node.tell({ object.importValue($0, forKey: attribute.attribute.name) }) {
        return !isNew
      }
      isTold = true
      reception = try object.receive(node, at: attribute.slots)
    case .text, nil: break
    }
    switch reception {
    case .changed: return true
    case .same: return false
    case .unfit: return try setRead(attribute, of: object, to: node, mapping, isTold, isNew)
    }
  }

  /// The same for values in other forms.
  private mutating func setRead(
    _ attribute: ItemAttribute, of object: ManagedObject, to node: JSONNode,
    _ mapping: ItemMapping, _ isTold: Bool, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    let name = attribute.attribute.name
    let value: Value
    do throws(ArborError) {
      value = try attribute.read(node)
    } catch {
      if !isTold, node.tell({ object.importValue($0, forKey: name) }) { return !isNew }
      throw error
    }
    if !isTold, Self.tell(object, value, node, name) { return !isNew }
    do throws(ArborError) {
      return try assign(value, to: attribute, of: object, isNew)
    } catch {
      throw error.located(mapping.entity.name, name, at: node.location)
    }
  }

  private mutating func assign(
    _ value: Value, to attribute: ItemAttribute, of object: ManagedObject, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    if !isNew, object.value(at: attribute.slots) == value { return false }
    try object.setValue(value, at: attribute.slots)
    return true
  }

  /// Notes objects within a scope that are to be deleted unless an item speaks of them.
  mutating func noteMissing(
    _ objects: [ManagedObject], within scope: FetchPredicate?
  ) throws(ArborError) {
    for object in objects {
      if try isOpen(object, within: scope) { missing.append(object) }
    }
  }

  /// Whether an object may have to go.
  ///
  /// Not inlined: Swift 6.3's optimiser loses the object between two errors.
  @inline(never)
  private func isOpen(
    _ object: ManagedObject, within scope: FetchPredicate?
  ) throws(ArborError) -> Bool {
    try planner.limit?.check()
    return try scope?.matches(object) ?? true
  }

  /// Deletes what no item has spoken of. Called once, when all items have been carried out: an
  /// object that one list lacks may stand in another.
  mutating func deleteMissing() throws(ArborError) {
    for object in missing where !object.isDeleted && !counts.hasTouched(object) {
      try planner.limit?.check()
      delete(object)
    }
    missing = []
  }

  /// Tells an object's hook of a value, dates in one form, whatever the document's; false where the
  /// object has not taken it.
  private static func tell(
    _ object: ManagedObject, _ value: Value, _ node: JSONNode, _ name: String
  ) -> Bool {
    switch value {
    case .string(let text): object.importValue(.string(text), forKey: name)
    case .date(let date): object.importValue(.string(ISO8601Date.milliseconds(date)), forKey: name)
    default: node.tell { object.importValue($0, forKey: name) }
    }
  }
}

extension [ManagedObject] {
  /// The objects in their order, each where it stands first.
  var eachOnce: [ManagedObject] {
    guard count > 1 else { return self }
    var seen: Set<ManagedObject> = []
    return filter { seen.insert($0).inserted }
  }
}
