import ArborModel
import ArborObjects
import Foundation

/// Carries a plan out in a context: objects, then their values, then their relationships.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
struct ExchangeRun {
  private let plan: ExchangePlan
  private let context: ManagedObjectContext
  /// By their places in the plan.
  private(set) var objects: [ManagedObject] = []

  init(_ plan: ExchangePlan, in context: ManagedObjectContext) {
    self.plan = plan
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
    let members = plan.objects(of: link.sources)
    for member in members {
      let memberEntity = plan.objects[member].entity
      guard memberEntity.isKind(of: relationship.destination) else {
        throw link.node.error(
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and the linked "
            + "documents create \(memberEntity.name); link others."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
    }
    guard relationship.isToMany || members.count == 1 || link.node.kind == .null else {
      throw link.node.error(
        "\(entity.name).\(relationship.name) takes exactly one object, and the linked documents "
          + "create \(members.count); link a document that creates one."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    let name = relationship.name
    try link.node.placing(entity: entity.name, property: name) {
      guard relationship.isToMany else {
        return try object.setObject(members.first.map { objects[$0] }, forKey: name)
      }
      if link.node.kind == .null { try object.setObjects([], forKey: name) }
      for member in members { try object.add(objects[member], forKey: name) }
    }
  }
}
