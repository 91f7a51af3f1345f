import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// A relationship of an object that is connected after all items have been processed, because later
/// ones may create its targets.
struct DeferredLink {
  let object: ManagedObject
  let relationship: MappedRelationship
  let link: ExchangePlan.Link
  let location: ItemLocation
}

/// A deferred relationship without its plan, documents and object, to be connected by a later
/// batch.
struct WaitingLink {
  let object: ObjectID
  let relationship: String
  /// For each target, its possible identities in order of preference.
  let targets: [[IdentityKey]]
  let location: ItemLocation
}

/// The location of an item, for errors.
enum ItemLocation {
  /// A tape index in a document of the plan.
  case node(document: Int32, Int32)
  /// A byte offset in the source, for a document that has already been released. Indirect, so that
  /// deferred links are small.
  indirect case byte(Int, of: JSONSource)
}

/// The treatment of unknown keys.
enum UnknownKeyRule {
  /// An error, or skipped by a lenient import.
  case isError
  /// A later batch may create the object.
  case waits
}

extension ExchangeRun {
  /// Connects deferred relationships after all items have been processed.
  ///
  /// - Returns: The relationships that must wait for later items.
  /// - Throws: ``ArborError`` `objectNotFound` for the first unknown key, if that is an error.
  @discardableResult
  func connectDeferred(unknownKey rule: UnknownKeyRule) throws(ArborError) -> [DeferredLink] {
    var waiting: [DeferredLink] = []
    for pending in deferred where !pending.object.isDeleted {
      try plan.limit.check()
      trace?.begin(itemOf: pending.object.objectNumber)
      guard pending.relationship.policy != .putFirst else {
        try connectSeeded(pending)
        continue
      }
      var (members, isComplete) = namedObjects(pending)
      if !isComplete, rule != .waits, pending.relationship.reference?.createsMissing == true {
        try createMissing(pending)
        (members, isComplete) = namedObjects(pending)
      }
      if !isComplete {
        if rule == .waits {
          waiting.append(pending)
          continue
        }
        guard let drops = plan.drops else { throw unknownKey(pending) }
        drops.add { unknownKey(pending) }
      }
      let edits = trace == nil ? 0 : plan.context.editCount
      if try connect(pending, with: members) { counts.noteChanged(pending.object) }
      trace?.noteChanges(of: plan.context.changedObjects(sinceEdit: edits))
    }
    deferred = []
    return waiting
  }

  // MARK: Objects referenced by keys

  /// Returns the known targets of a relationship, and whether all of its targets are known.
  private func namedObjects(
    _ pending: DeferredLink
  ) -> (members: [ManagedObject], isComplete: Bool) {
    let members = plan.members(of: pending.link).compactMap(namedObject)
    return (members, members.count == Int(pending.link.count))
  }

  /// Returns the object with the most preferred key of a name, or `nil` if no object has any of its
  /// keys.
  func namedObject(_ member: ExchangePlan.Member) -> ManagedObject? {
    guard case .named(let name) = member else { return nil }
    let (table, keys) = plan.keys(of: name)
    for key in keys {
      if let object = table.first(at: Int(key)) { return object }
    }
    return nil
  }

  /// Inserts the missing targets of a relationship, each with its most preferred key.
  private func createMissing(_ pending: DeferredLink) throws(ArborError) {
    for member in plan.members(of: pending.link) where namedObject(member) == nil {
      guard case .named(let name) = member else { continue }
      let (table, keys) = plan.keys(of: name)
      guard let key = keys.first else { continue }
      do throws(ArborError) {
        let object = try plan.context.insert(table.entity.name)
        try object.setValue(table.key(at: Int(key))[0], atSlot: table.attributes[0].slot)
        counts.noteInserted(object)
        locationsOfWaiting[object.objectNumber] = pending.location
        try plan.note(object, of: table.entity, guess: (table, index: Int(key)))
      } catch {
        throw misfit(error, pending)
      }
    }
  }

  private func connect(
    _ pending: DeferredLink, with members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    let relationship = pending.relationship
    do throws(ArborError) {
      guard relationship.isToMany else {
        return try relationship.set(members.first, of: pending.object)
      }
      // Items that refer to objects don't describe them, so members are never deleted to be
      // inserted again.
      if relationship.policy == .merge { return try relationship.add(members, to: pending.object) }
      return try relationship.set(members, of: pending.object)
    } catch {
      throw misfit(error, pending)
    }
  }

  private func misfit(_ error: ArborError, _ pending: DeferredLink) -> ArborError {
    error.located(
      pending.object.entity.name, pending.relationship.name, at: location(of: pending.location))
  }

  private func unknownKey(_ pending: DeferredLink) -> ArborError {
    let name = pending.relationship.name
    let entity = pending.relationship.reference?.entity.name ?? ""
    return ArborError(
      .objectNotFound,
      "No \(entity) has the key in this item's \(name). Import that object as well, or correct the "
        + "key."
    ).with(
      entity: pending.object.entity.name, keyPath: name, location: location(of: pending.location))
  }

  // MARK: Links waiting for a later batch

  /// Returns the data required for connecting a relationship after the plan and object have been
  /// released.
  func waiting(_ pending: DeferredLink, _ source: JSONSource) -> WaitingLink {
    var targets: [[IdentityKey]] = []
    for case .named(let name) in plan.members(of: pending.link) {
      let (table, keys) = plan.keys(of: name)
      targets.append(keys.map { table.key(at: Int($0)) })
    }
    var location = pending.location
    if case .node(let document, let node) = location {
      location = .byte(plan.node(in: document, node).offset, of: source)
    }
    return WaitingLink(
      object: pending.object.objectID, relationship: pending.relationship.name, targets: targets,
      location: location)
  }

  /// Resumes a relationship that an earlier batch could not connect, and requests the lookup of its
  /// keys.
  func resume(
    _ waiting: WaitingLink, of object: ManagedObject, _ mapping: ExchangeMapping, at index: Int
  ) {
    guard let table = plan.referenceTable(plan.enterMapping(mapping), index) else { return }
    locationsOfWaiting[object.objectNumber] = waiting.location
    var link = ExchangePlan.Link(relationship: Int32(index), content: .members, isDeferred: true)
    link.first = Int32(plan.members.count)
    link.count = Int32(waiting.targets.count)
    for keys in waiting.targets { plan.members.append(.named(plan.enterName(keys, in: table))) }
    deferred.append(
      DeferredLink(
        object: object, relationship: mapping.relationships[index], link: link,
        location: waiting.location))
  }

  // MARK: Seeds

  /// Sets the members that a seed creates or finds.
  private func connectSeeded(_ pending: DeferredLink) throws(ArborError) {
    let relationship = pending.relationship
    let planned = plan.flattened(plan.members(of: pending.link))
    guard case .node(let document, let index) = pending.location else { return }
    let node = plan.node(in: document, index)
    try relationship.check(planned.count, limit: plan.maximumMembers, at: node)
    let members = try planned.map { (member) throws(ArborError) in
      try seeded(member, relationship, at: node)
    }
    guard relationship.isToMany || members.count == 1 || node.isNull else {
      throw node.error(
        "\(relationship.entityName).\(relationship.name) refers to exactly one object, but the "
          + "linked documents create \(members.count). Link a document that creates one."
      ).with(entity: relationship.entityName, keyPath: relationship.name)
    }
    do throws(ArborError) {
      guard relationship.isToMany else {
        return try pending.object.setObject(members.first, atSlot: relationship.slot)
      }
      if node.isNull { return try pending.object.setObjects([], atSlot: relationship.slot) }
      _ = try putFirst(members, of: pending.object, relationship)
    } catch {
      throw error.located(relationship.entityName, relationship.name, at: node.location)
    }
  }

  /// Returns a member of a seed's relationship, after checking that it is valid.
  private func seeded(
    _ member: ExchangePlan.Member, _ relationship: MappedRelationship, at node: JSONNode
  ) throws(ArborError) -> ManagedObject {
    switch member {
    case .item(let index):
      let entity = plan.mapping(of: plan.items[Int(index)]).entity
      if entity.isKind(of: relationship.destination), let object = objects[Int(index)] {
        return object
      }
      throw node.error(
        "\(relationship.entityName).\(relationship.name) refers to "
          + "\(relationship.destination.name), but the linked documents create \(entity.name). Link "
          + "other documents."
      ).with(entity: relationship.entityName, keyPath: relationship.name)
    case .named(let name):
      let object = try found(name)
      if object.isKind(of: relationship.destination) { return object }
      throw plan.node(ofName: name).error(
        "\(relationship.entityName).\(relationship.name) refers to "
          + "\(relationship.destination.name), but the object that was found is of entity "
          + "\(object.entity.name). Correct the $find."
      ).with(entity: relationship.entityName, keyPath: relationship.name)
    case .labelled, .group: stopProgram("The members of a seed's link are already resolved.")
    }
  }

  /// Returns the only object with a key among the objects of the store, the context and the plan.
  /// Throws if there are none or several.
  private func found(_ name: Int32) throws(ArborError) -> ManagedObject {
    let (table, keys) = plan.keys(of: name)
    let matches = keys.flatMap { table.objects(at: Int($0)) }
    if matches.count == 1 { return matches[0] }
    let entity = table.entity.name
    let names = table.attributes.map(\.name).joined(separator: " and ")
    let problem =
      matches.isEmpty
      ? "No \(entity) in the document or in the store has this \(names). Correct the value, or "
        + "create the object."
      : "\(matches.count) objects of \(entity) have this \(names). Add attributes that identify a "
        + "single object."
    throw plan.node(ofName: name).error(problem)
      .with(entity: entity, keyPath: table.attributes[0].name)
  }

  // MARK: Locations for errors of the commit

  /// The maximum number of violations with a location. Limited because determining a location
  /// requires counting lines from the beginning of the batch.
  private static let maximumLocated = 20

  /// Returns an error of a commit with the locations of the items that caused its violations.
  func located(_ error: ArborError) -> ArborError {
    var error = error
    for index in error.violations.indices.prefix(Self.maximumLocated) {
      error.violations[index].location =
        error.violations[index].location ?? location(of: error.violations[index])
    }
    error.location = error.location ?? location(of: error) ?? error.violations.first?.location
    return error
  }

  /// Returns the location of the value that an error concerns, or of its item. Returns `nil` if no
  /// item describes the object.
  private func location(of error: ArborError) -> ArborError.SourceLocation? {
    guard let id = error.objectID, let object = plan.context.registeredObject(for: id) else {
      return nil
    }
    if let itemIndex = itemsOfObjects?[object.objectNumber] {
      return location(of: plan.items[Int(itemIndex)], property: error.keyPath)
    }
    return locationsOfWaiting[object.objectNumber].flatMap(location)
  }

  func location(
    of item: ExchangePlan.Item, property: String?
  ) -> ArborError.SourceLocation {
    let mapping = plan.mapping(of: item)
    if item.origin < 0, let index = property.flatMap(mapping.index) {
      let node =
        index < mapping.attributes.count
        ? plan.values[Int(item.values) + index]
        : item.links.map { plan.links[$0] }
          .first { Int($0.relationship) == index - mapping.attributes.count }?.node ?? 0
      if node > 0 { return plan.node(item, node).location }
    }
    return plan.origin(item).location
  }

  /// Returns the line and column of a location, or `nil` if its source cannot be read. Reads the
  /// file again if its document has been released.
  func location(of location: ItemLocation) -> ArborError.SourceLocation? {
    switch location {
    case .node(let document, let node): return plan.node(in: document, node).location
    case .byte(let offset, let source): return source.location(of: offset)
    }
  }
}
