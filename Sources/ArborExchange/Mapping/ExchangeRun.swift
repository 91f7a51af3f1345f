import ArborModel
import ArborObjects
import Foundation

/// Carries a plan out in a context: objects with their values, then what is to be found among them
/// and in the store, then relationships.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
struct ExchangeRun {
  let plan: ExchangePlan
  let context: ManagedObjectContext
  private let schema: ExchangeSchema
  /// By their places in the plan.
  private(set) var objects: [ManagedObject] = []
  /// By the places of the finds in the plan.
  private var found: [ManagedObject] = []

  init(_ plan: ExchangePlan, _ schema: ExchangeSchema, in context: ManagedObjectContext) {
    self.plan = plan
    self.schema = schema
    self.context = context
  }

  /// Makes the objects, fills and connects them.
  mutating func run() throws(ArborError) {
    objects.reserveCapacity(plan.objects.count)
    for planned in plan.objects {
      let object = try planned.node.placing(entity: planned.entity.name) {
        try context.insert(planned.entity.name)
      }
      objects.append(object)
      for value in planned.values { try fill(object, value, of: planned.entity) }
    }
    // What the plan makes is there by now, with its values, so that one look finds all.
    found = try findObjects()
    for place in plan.objects.indices where !plan.objects[place].links.isEmpty {
      let planned = plan.objects[place]
      for link in planned.links { try connect(objects[place], link, of: planned.entity) }
    }
  }

  private func fill(
    _ object: ManagedObject, _ planned: PlannedValue, of entity: ExchangeEntity
  ) throws(ArborError) {
    let name = planned.attribute.name
    try planned.node.placing(entity: entity.name, property: name) {
      switch planned.content {
      case .value(let value): try object.setValue(value, forKey: name)
      case .uniqueID:
        let number = try context.store.uniqueIDs.next()
        try object.setValue(uniqueID(number, for: planned), forKey: name)
      }
    }
  }

  /// A unique number in the form that the attribute keeps.
  private func uniqueID(_ number: Int64, for planned: PlannedValue) throws(ArborError) -> Value {
    let narrow: Bool
    switch planned.attribute.type {
    case .string: return .string(String(number))
    case .double: return .double(Double(number))
    case .decimal: return .decimal(.init(number))
    case .integer16: narrow = Int16(exactly: number) == nil
    case .integer32: narrow = Int32(exactly: number) == nil
    default: narrow = false
    }
    guard !narrow else {
      throw ArborError(
        .limitExceeded,
        "The store's unique numbers no longer fit the attribute; make it a 64-bit integer.")
    }
    return .integer(number)
  }

  /// Adds what a link makes to what a relationship has: an inverse may have put members there.
  private func connect(
    _ object: ManagedObject, _ link: PlannedLink, of entity: ExchangeEntity
  ) throws(ArborError) {
    let relationship = link.relationship
    var members: [ManagedObject] = []
    for member in plan.members(of: link.sources) {
      members.append(try self.member(member, of: link, of: entity))
    }
    guard relationship.isToMany || members.count == 1 || link.node.kind == .null else {
      throw link.node.error(
        "\(entity.name).\(relationship.name) takes exactly one object, and the linked documents "
          + "create \(members.count); link a document that creates one."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    let name = relationship.name
    try link.node.placing(entity: entity.name, property: name) {
      guard relationship.isToMany else { return try object.setObject(members.first, forKey: name) }
      if link.node.kind == .null { return try object.setObjects([], forKey: name) }
      if relationship.isOrdered, try object.count(forKey: name) > 0 {
        // The document's order is the one that counts; what else has come follows.
        let listed = Set(members)
        let others = try object.objects(forKey: name).filter { !listed.contains($0) }
        return try object.setObjects(members + others, forKey: name)
      }
      for member in members { try object.add(member, forKey: name) }
    }
  }

  /// A member of a link, once it is known to fit the relationship.
  private func member(
    _ member: PlannedMember, of link: PlannedLink, of entity: ExchangeEntity
  ) throws(ArborError) -> ManagedObject {
    let relationship = link.relationship
    switch member {
    case .object(let place):
      let memberEntity = plan.objects[place].entity
      guard memberEntity.isKind(of: relationship.destination) else {
        throw link.node.error(
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and the linked "
            + "documents create \(memberEntity.name); link others."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
      return objects[place]
    case .find(let place):
      let name = found[place].entity.name
      guard schema.entity(named: name)?.isKind(of: relationship.destination) == true else {
        throw plan.finds[place].node.error(
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and the object "
            + "that was found is of \(name); find another."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
      return found[place]
    }
  }
}
