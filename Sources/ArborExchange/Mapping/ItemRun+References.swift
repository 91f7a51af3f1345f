import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// Relationships whose objects were named by their keys.
extension ItemRun {
  /// Connects objects with those that their items have named, when all items have been carried out.
  ///
  /// - Returns: What has to wait for later items.
  /// - Throws: ``ArborError`` `objectNotFound` for the first key that no object has, where that is
  ///   an error.
  mutating func connectNamed(
    unknownKey rule: UnknownKeyRule, _ drops: ImportDrops?
  ) throws(ArborError) -> [PendingReference] {
    var waiting: [PendingReference] = []
    for pending in references where !pending.object.isDeleted {
      try planner.limit?.check()
      if let changed = try connectPlainly(pending) {
        if changed { counts.noteChanged(pending.object) }
        continue
      }
      guard let reference = pending.relationship.reference else { continue }
      let table = reference.table
      var (members, isComplete) = members(of: pending, table)
      if !isComplete, reference.createsMissing, rule != .waits {
        try createMissing(pending, table)
        (members, isComplete) = self.members(of: pending, table)
      }
      if !isComplete {
        switch rule {
        case .isError:
          guard let drops else { throw unknownKey(pending, table) }
          drops.add { unknownKey(pending, table) }
        case .waits:
          waiting.append(pending)
          continue
        }
      }
      if try connect(pending, with: members) { counts.noteChanged(pending.object) }
    }
    references = []
    return waiting
  }

  /// Connects an object with the one that its item has named by a single key; nil where that takes
  /// more: several keys, or one that no object has.
  private mutating func connectPlainly(_ pending: PendingReference) throws(ArborError) -> Bool? {
    guard pending.count == 1, !pending.relationship.relationship.isToMany,
      let table = pending.relationship.reference?.table,
      planner.plan.targets[Int(pending.first)] == 1,
      let target = table.first(at: Int(planner.plan.targets[Int(pending.first) + 1]))
    else { return nil }
    return try connect(pending, toOne: target)
  }

  /// Makes the objects that a relationship names and that no object is, by the preferred key of each.
  private mutating func createMissing(
    _ pending: PendingReference, _ table: IdentityTable
  ) throws(ArborError) {
    let targets = planner.plan.keys(of: pending.count, from: pending.first)
    for keys in targets where !keys.contains(where: { table.first(at: Int($0)) != nil }) {
      guard let key = keys.first else { continue }
      do throws(ArborError) {
        let object = try context.insert(table.entity.name)
        try object.setValue(
          table.key(at: Int(key))[0], at: table.attributes[0].slots(in: context))
        counts.noteInserted(object)
        locationsOfWaiting[object.objectNumber] = pending.location
        try identities.note(object, of: table.entity, guess: (table, index: Int(key)))
      } catch {
        throw misfit(error, pending)
      }
    }
  }

  /// The objects that a relationship names, as far as they are known, and whether all are.
  private func members(
    of pending: PendingReference, _ table: IdentityTable
  ) -> (members: [ManagedObject], isComplete: Bool) {
    let members = planner.plan.keys(of: pending.count, from: pending.first).compactMap { keys in
      keys.lazy.compactMap { table.first(at: Int($0)) }.first
    }
    return (members, members.count == Int(pending.count))
  }

  /// What a relationship needs to be connected when the plan, its document and the object are no
  /// longer in memory.
  func waiting(_ pending: PendingReference, _ url: URL) -> WaitingReference {
    var targets: [[IdentityKey]] = []
    if let table = pending.relationship.reference?.table {
      targets = planner.plan.keys(of: pending.count, from: pending.first)
        .map { keys in keys.map { table.key(at: Int($0)) } }
    }
    var location = pending.location
    if case .node(let document, let node) = location {
      location = .byte(planner.plan.node(in: document, node).offset, of: url)
    }
    return WaitingReference(
      object: pending.object.objectID,
      relationship: pending.relationship.relationship.name, targets: targets, location: location)
  }

  /// Takes up a relationship that an earlier batch had to leave; its keys are asked for at the next
  /// fetch.
  mutating func take(
    _ waiting: WaitingReference, of object: ManagedObject, _ relationship: ItemRelationship
  ) {
    guard let table = relationship.reference?.table else { return }
    locationsOfWaiting[object.objectNumber] = waiting.location
    let first = Int32(planner.plan.targets.count)
    for keys in waiting.targets {
      planner.plan.targets.append(Int32(keys.count))
      for key in keys { planner.plan.targets.append(Int32(table.want(key).keyIndex)) }
    }
    references.append(
      PendingReference(
        object: object, relationship: relationship, first: first,
        count: Int32(waiting.targets.count), location: waiting.location))
  }

  private func unknownKey(_ pending: PendingReference, _ table: IdentityTable) -> ArborError {
    let name = pending.relationship.relationship.name
    return ArborError(
      .objectNotFound,
      "There is no \(table.entity.name) of the key that this item names for its \(name); import it "
        + "too, or correct the key."
    ).with(
      entity: pending.object.entity.name, keyPath: name, location: location(of: pending.location))
  }

  /// Line and column. Reads a file again where its document is no longer in memory.
  func location(of location: ItemLocation) -> ArborError.SourceLocation? {
    switch location {
    case .node(let document, let node): return planner.plan.node(in: document, node).location
    case .byte(let offset, let url):
      guard let data = try? Data(contentsOf: url, options: .mappedIfSafe) else { return nil }
      let lines = data.prefix(offset).split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      return ArborError.SourceLocation(
        source: url.path, line: lines.count,
        column: String(decoding: lines.last ?? Data(), as: UTF8.self).count + 1)
    }
  }

  private mutating func connect(
    _ pending: PendingReference, with members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    guard pending.relationship.relationship.isToMany else {
      return try connect(pending, toOne: members.first)
    }
    do throws(ArborError) {
      // Items that name objects do not describe them, so none is deleted to be made again.
      if pending.relationship.policy == .merge {
        return try add(members, to: pending.object, pending.relationship.slots)
      }
      return try pending.relationship.relationship.set(
        members, of: pending.object, at: pending.relationship.slots)
    } catch {
      throw misfit(error, pending)
    }
  }

  private mutating func connect(
    _ pending: PendingReference, toOne target: ManagedObject?
  ) throws(ArborError) -> Bool {
    let slots = pending.relationship.slots
    guard pending.object.object(at: slots) !== target else { return false }
    do throws(ArborError) {
      try pending.object.setObject(target, at: slots)
    } catch {
      throw misfit(error, pending)
    }
    return true
  }

  private func misfit(_ error: ArborError, _ pending: PendingReference) -> ArborError {
    error.located(
      pending.object.entity.name, pending.relationship.relationship.name,
      at: location(of: pending.location))
  }

  // MARK: Where the items of objects stand, for errors of the commit that follows

  /// How many violations are given a location: each is counted from the beginning of the batch.
  private static let maximumLocated = 20

  /// An error of a commit with the locations of the items that the violations come from.
  func located(_ error: ArborError) -> ArborError {
    var error = error
    for index in error.violations.indices.prefix(Self.maximumLocated) {
      error.violations[index].location =
        error.violations[index].location ?? location(of: error.violations[index])
    }
    error.location = error.location ?? location(of: error) ?? error.violations.first?.location
    return error
  }

  /// Where the value that an error concerns stands, or its item where it has none.
  private func location(of error: ArborError) -> ArborError.SourceLocation? {
    guard let id = error.objectID, let object = context.registeredObject(for: id) else {
      return nil
    }
    if let itemIndex = itemsOfObjects?[object.objectNumber] {
      return location(of: planner.plan.items[Int(itemIndex)], property: error.keyPath)
    }
    return locationsOfWaiting[object.objectNumber].flatMap(location)
  }

  private func location(of item: ItemPlan.Item, property: String?) -> ArborError.SourceLocation {
    let mapping = planner.plan.mappings[Int(item.mapping)]
    let names =
      mapping.attributes.map(\.attribute.name) + mapping.relationships.map(\.relationship.name)
    if item.origin < 0, let index = names.firstIndex(where: { $0 == property }) {
      let node = planner.plan.values[Int(item.values) + index]
      if node > 0 { return planner.plan.node(item, node).location }
    }
    return planner.plan.origin(item).location
  }
}
