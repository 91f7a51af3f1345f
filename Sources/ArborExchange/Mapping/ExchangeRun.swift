import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// Carries a plan out in a context: objects with their values, then what is to be found among them
/// and in the store, then relationships.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
struct ExchangeRun {
  let plan: ExchangePlan
  let values: ExchangeValueReader
  let schema: ExchangeSchema
  let context: ManagedObjectContext
  let options: SeedOptions
  let limit: ExchangeLimit
  /// By their indexes in the plan.
  private(set) var objects: [ManagedObject] = []
  /// By the indexes of the finds in the plan.
  private(set) var found: [ManagedObject] = []

  mutating func run() throws(ArborError) {
    objects.reserveCapacity(plan.objects.count)
    for planned in plan.objects {
      try limit.check()
      let object = try planned.node.locating(entity: planned.entity.name) { () throws(ArborError) in
        try context.insert(planned.entity.name)
      }
      objects.append(object)
      try fill(object, planned)
    }
    // What the plan makes is there by now, with its values, so that one look finds all.
    found = try findObjects()
    for index in plan.objects.indices {
      try limit.check()
      var next = plan.objects[index].firstLink
      while next >= 0 {
        let link = plan.links[Int(next)]
        try connect(objects[index], link, of: plan.objects[index].entity)
        next = link.next
      }
    }
  }

  /// Gives an object the attributes that stand in its document.
  private func fill(_ object: ManagedObject, _ planned: PlannedObject) throws(ArborError) {
    let entity = planned.entity
    let members = entity.attributeMembers
    members.find(in: planned.node)
    for (index, attribute) in entity.attributes.enumerated() {
      guard let node = members[index] else { continue }
      try node.locating(entity: entity.name, property: attribute.name) { () throws(ArborError) in
        let read = try values.content(node, for: attribute, of: entity)
        let value =
          if let read { read } else { try ExchangeValueReader.value(uniqueID(), for: attribute) }
        guard !attribute.isDerived else {
          return try object.setValue(value, forKey: attribute.name)
        }
        try object.setValue(value, at: attribute.slots(in: context))
      }
    }
  }

  private func uniqueID() throws(ArborError) -> Int64 {
    switch options.uniqueIDs {
    case .store: try context.store.uniqueIDs.next()
    case .application: try UniqueIDGenerator.generateUniqueID()
    }
  }

  /// Adds what a link makes to what a relationship has: an inverse may have put members there.
  private func connect(
    _ object: ManagedObject, _ link: PlannedLink, of entity: ExchangeEntity
  ) throws(ArborError) {
    let relationship = link.relationship
    let planned = plan.members(of: link)
    try relationship.check(planned.count, limit: options.maximumMembers, at: link.node)
    let members = try planned.map { (member) throws(ArborError) in
      try self.member(member, of: link, of: entity)
    }
    guard relationship.isToMany || members.count == 1 || link.node.kind == .null else {
      throw link.node.error(
        "\(entity.name).\(relationship.name) takes exactly one object, and the linked documents "
          + "create \(members.count); link a document that creates one."
      ).with(entity: entity.name, keyPath: relationship.name)
    }
    try link.node.locating(entity: entity.name, property: relationship.name) {
      () throws(ArborError) in
      let slots = try relationship.slots(in: context)
      guard relationship.isToMany else { return try object.setObject(members.first, at: slots) }
      if link.node.isNull { return try object.setObjects([], at: slots) }
      if relationship.isOrdered, object.count(at: slots) > 0 {
        // The document's order is the one that counts; what else has come follows.
        let listed = Set(members)
        let others = object.objects(at: slots).filter { !listed.contains($0) }
        return try object.setObjects(members + others, at: slots)
      }
      for member in members { try object.add(member, at: slots) }
    }
  }

  /// A member of a link, once it is known to fit the relationship.
  private func member(
    _ member: PlannedMember, of link: PlannedLink, of entity: ExchangeEntity
  ) throws(ArborError) -> ManagedObject {
    let relationship = link.relationship
    switch member {
    case .object(let index):
      let memberEntity = plan.objects[index].entity
      guard memberEntity.isKind(of: relationship.destination) else {
        throw link.node.error(
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and the linked "
            + "documents create \(memberEntity.name); link others."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
      return objects[index]
    case .find(let index):
      let name = found[index].entity.name
      guard schema.entity(named: name)?.isKind(of: relationship.destination) == true else {
        throw plan.finds[index].node.error(
          "\(entity.name).\(relationship.name) takes \(relationship.destination), and the object "
            + "that was found is of \(name); find another."
        ).with(entity: entity.name, keyPath: relationship.name)
      }
      return found[index]
    }
  }

  /// The object of each find, in the order of the plan: looked up among the objects of the store,
  /// the uncommitted ones and those of the plan itself.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` where none exists, or more than one.
  private func findObjects() throws(ArborError) -> [ManagedObject] {
    guard !plan.finds.isEmpty else { return [] }
    let identities = IdentityMap(context)
    for find in plan.finds {
      identities.table(for: find.entity, by: find.attributes).want(find.key)
    }
    try identities.fetch()
    return try plan.finds.map { (find) throws(ArborError) in
      let table = identities.table(for: find.entity, by: find.attributes)
      return try theOne(of: table.objects(for: find.key), for: find)
    }
  }

  private func theOne(
    of matches: [ManagedObject], for find: PlannedFind
  ) throws(ArborError) -> ManagedObject {
    if matches.count == 1 { return matches[0] }
    let names = find.attributes.map(\.name).joined(separator: " and ")
    let problem =
      matches.isEmpty
      ? "No \(find.entity.name) has this \(names), neither here nor in the store; correct the "
        + "value, or create the object."
      : "\(matches.count) objects of \(find.entity.name) have this \(names); name more attributes, "
        + "so that one is left."
    throw find.node.error(problem).with(entity: find.entity.name, keyPath: find.attributes[0].name)
  }
}
