import ArborModel
import ArborObjects
import Foundation

/// Carries planned items out in a context, one after the other: each is found or made, filled, and
/// connected with the objects of the items within it.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
struct ItemRun {
  let context: ManagedObjectContext
  let identities: IdentityMap
  var counts = ExchangeCounts()
  /// Objects that nobody has spoken of so far, and that are deleted at the end where nobody does.
  private var missing: [ManagedObject] = []
  /// Relationships whose objects may still be made by later items.
  var references: [PendingReference] = []

  init(_ context: ManagedObjectContext, _ identities: IdentityMap) {
    self.context = context
    self.identities = identities
  }

  /// Plans the items of a document, looks all their identities up together and carries them out.
  ///
  /// - Returns: Their objects in the order of the document, each once.
  @discardableResult
  mutating func run(
    _ nodes: some Collection<JSONNode>, _ mapping: ItemMapping, isList: Bool
  ) throws(ArborError) -> [ManagedObject] {
    var planner = ItemPlanner()
    let items = try planner.items(nodes, mapping, isList: isList)
    counts.dropped += planner.droppedCount
    try identities.fetch()
    return try run(items)
  }

  /// Carries a list of items out.
  ///
  /// - Returns: Their objects in the order of the list, each once.
  mutating func run(_ items: [PlannedItem]) throws(ArborError) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(items.count)
    var others: [ManagedObject] = []
    let matched = counts.matches
    for item in items {
      if let object = try run(item, &others) { objects.append(object) }
      if !others.isEmpty {
        objects += others
        others = []
      }
    }
    // Objects that were made just now are each another one.
    return counts.matches == matched ? objects : objects.eachOnce
  }

  /// Carries one item out.
  ///
  /// - Returns: Its object, the first where several share its identity; nil where there is none and
  ///   none may be made.
  mutating func run(_ item: PlannedItem) throws(ArborError) -> ManagedObject? {
    var others: [ManagedObject] = []
    return try run(item, &others)
  }

  /// Carries one item out; `others` receives what shares the identity of the object returned.
  private mutating func run(
    _ item: PlannedItem, _ others: inout [ManagedObject]
  ) throws(ArborError) -> ManagedObject? {
    do throws(ArborError) {
      return try carryOut(item, &others)
    } catch {
      throw item.origin.map { error.with(location: $0.location) } ?? error
    }
  }

  private mutating func carryOut(
    _ item: PlannedItem, _ others: inout [ManagedObject]
  ) throws(ArborError) -> ManagedObject? {
    let mapping = item.mapping
    if let key = item.key, let table = mapping.table {
      if let only = table.only(for: key) {
        try update(only, item)
        return only
      }
      let existing = table.objects(for: key)
      for object in existing { try update(object, item) }
      if let first = existing.first {
        others = Array(existing.dropFirst())
        return first
      }
    }
    guard mapping.rules.insertsMissing else { return nil }
    let object = try item.node.placing(entity: mapping.entity.name) {
      try context.insert(mapping.entity.name)
    }
    counts.noteInserted(object)
    try fill(object, item, isNew: true)
    return object
  }

  private mutating func update(_ object: ManagedObject, _ item: PlannedItem) throws(ArborError) {
    counts.noteMatched(object, changed: false)
    guard item.mapping.rules.updatesExisting else { return }
    if try fill(object, item, isNew: false) { counts.noteMatched(object, changed: true) }
  }

  /// - Returns: Whether anything has changed.
  @discardableResult
  private mutating func fill(
    _ object: ManagedObject, _ item: PlannedItem, isNew: Bool
  ) throws(ArborError) -> Bool {
    let mapping = item.mapping
    var changed = false
    mapping.look(at: item.node)
    let hasHooks = mapping.rules.callsHooks && Self.mayHaveHooks(object)
    for attribute in mapping.attributes {
      let node = mapping.value(of: attribute.routes)
      if try set(attribute, of: object, to: node, mapping, hasHooks, isNew) { changed = true }
    }
    // From here on items may lead to it.
    if isNew { try identities.note(object, of: mapping.entity) }
    for links in item.links {
      let relationship = mapping.relationships[links.place]
      if try connect(object, relationship, links.members, mapping) { changed = true }
    }
    if hasHooks { object.didImport(from: item.node.value) }
    return changed
  }

  private func set(
    _ attribute: ItemAttribute, of object: ManagedObject, to node: JSONNode?,
    _ mapping: ItemMapping, _ hasHooks: Bool, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    guard let node else {
      guard mapping.rules.clearsAbsent else { return false }
      return try assign(.null, to: attribute, of: object, isNew)
    }
    let value = try attribute.read(node)
    if hasHooks, object.importValue(Self.told(value, node), forKey: attribute.attribute.name) {
      return !isNew
    }
    do throws(ArborError) {
      return try assign(value, to: attribute, of: object, isNew)
    } catch {
      throw error.placed(mapping.entity.name, attribute.attribute.name, at: node.location)
    }
  }

  private func assign(
    _ value: Value, to attribute: ItemAttribute, of object: ManagedObject, _ isNew: Bool
  ) throws(ArborError) -> Bool {
    if !isNew, object.value(at: attribute.place) == value { return false }
    try object.setValue(value, at: attribute.place)
    return true
  }

  /// Notes objects that are to be deleted unless an item speaks of them.
  ///
  /// - Parameter scope: Only those that fulfil it; nil: all.
  mutating func noteMissing(
    _ objects: [ManagedObject], within scope: FetchPredicate?
  ) throws(ArborError) {
    for object in objects {
      if let scope, try !scope.matches(object) { continue }
      missing.append(object)
    }
  }

  /// Deletes what no item has spoken of. Called once, when all items have been carried out: an
  /// object that one list lacks may stand in another.
  mutating func deleteMissing() {
    for object in missing where !object.isDeleted && !counts.hasTouched(object) {
      context.delete(object)
      counts.deleted += 1
    }
    missing = []
  }

  /// Whether an object's class can have hooks of its own: a plain object has not.
  static func mayHaveHooks(_ object: ManagedObject) -> Bool {
    type(of: object) != ManagedObject.self
  }

  /// What a hook is told of a value: dates in one form, whatever the document's.
  private static func told(_ value: Value, _ node: JSONNode) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .date(let date):
      .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    default: node.value
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
