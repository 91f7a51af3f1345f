/// A change of the graph that can also be applied to a context.
enum Edit {
  case insert(entity: Int, key: Int)
  case set(Int, String, PlainValue)
  case setTarget(Int, PlainModel.Relationship, Int?)
  case setMembers(Int, PlainModel.Relationship, [Int])
  case add(Int, PlainModel.Relationship, Int)
  case remove(Int, PlainModel.Relationship, Int)
  case delete(Int)
  /// An update of all `count` objects of a query.
  case updateAll(PlainRequest, seed: UInt64, [Assignment], count: Int)
  case deleteAll(PlainRequest, seed: UInt64, count: Int)

  /// An assignment to one property in an update query.
  enum Assignment {
    case value(String, PlainValue)
    case target(PlainModel.Relationship, Int?)
    case members(PlainModel.Relationship, [Int])

    var name: String {
      switch self {
      case .value(let name, _): name
      case .target(let relationship, _), .members(let relationship, _): relationship.name
      }
    }

    /// The new value of the property.
    var value: PlainValue {
      switch self {
      case .value(_, let value): value
      case .target(_, let target): target.map(PlainValue.object) ?? .null
      case .members(_, let members): .list(members.map(PlainValue.object))
      }
    }
  }
}

/// A generator of random changes, which are applied to the naive graph as they are drawn.
struct EditGenerator {
  let dice: Dice
  private(set) var graph: PlainGraph
  private var nextUnique: Int64 = 1
  private var edits: [Edit] = []
  /// Mandatory attributes that must be assigned before the next commit.
  private var owed: [(key: Int, attribute: PlainModel.Attribute)] = []

  init(dice: Dice, model: PlainModel) {
    self.dice = dice
    graph = PlainGraph(model)
  }

  private var model: PlainModel { graph.model }

  /// Fills an empty graph.
  mutating func fill() -> [Edit] {
    for _ in 0..<dice.one([20, 30, 40, 60, 90]) { insert() }
    for key in graph.objects.keys.sorted() { relate(key, percent: 70) }
    return take()
  }

  /// Makes some changes of every kind.
  mutating func change() -> [Edit] {
    for _ in 0..<dice.int(4...20) {
      switch dice.int(0...9) {
      case 0...1: insert()
      case 2...4: update()
      case 5: delete()
      case 6 where dice.chance(40): dice.chance(75) ? updateAll() : deleteAll()
      default: if let key = someKey() { relate(key, percent: 30) }
      }
    }
    return take()
  }

  /// Assigns the mandatory attributes that lack a value.
  mutating func settle() -> [Edit] {
    for (key, attribute) in owed where graph.objects[key] != nil {
      if graph.value(attribute.name, of: key).isNull { set(attribute, of: key) }
    }
    owed = []
    return take()
  }

  /// Restores an earlier state of the graph.
  mutating func restore(_ earlier: PlainGraph) {
    graph.restore(earlier)
    owed = []
  }

  /// Deletes an object from the graph alone, so that it no longer matches the stores.
  mutating func distort() {
    if let key = someKey() { graph.delete(key) }
  }

  private mutating func take() -> [Edit] {
    defer { edits = [] }
    return edits
  }

  private func someKey() -> Int? { dice.some(graph.objects.keys.sorted()) }

  private mutating func insert() {
    guard let entity = dice.some(model.concrete) else { return }
    let key = graph.insert(entity)
    edits.append(.insert(entity: entity, key: key))
    for attribute in model.attributes(entity) { set(attribute, of: key) }
    for composite in model.composites(entity) { set(composite, of: key) }
  }

  private mutating func set(_ composite: PlainModel.Composite, of key: Int) {
    let value = value(of: composite)
    graph.set(composite.name, of: key, value)
    edits.append(.set(key, composite.name, value))
  }

  private func value(of composite: PlainModel.Composite) -> PlainValue {
    if dice.chance(15) { return .null }
    let parts = composite.parts.filter { _ in dice.chance(80) }
    return .composite(
      Dictionary(
        uniqueKeysWithValues: parts.map { ($0.name, ValueGenerator(dice: dice).value($0.kind)) }))
  }

  private mutating func update() {
    guard let key = someKey(), let object = graph.objects[key] else { return }
    for attribute in dice.few(model.attributes(object.entity), upTo: 3) {
      if !attribute.isOptional, dice.chance(10) {
        // `nil` is allowed until the commit.
        owed.append((key, attribute))
        assign(.null, to: attribute, of: key)
      } else {
        set(attribute, of: key)
      }
    }
    if let composite = dice.some(model.composites(object.entity)), dice.chance(40) {
      set(composite, of: key)
    }
  }

  private mutating func set(_ attribute: PlainModel.Attribute, of key: Int) {
    var value: PlainValue = .null
    if attribute.isUnique {
      value = attribute.kind == .text ? .text("u\(nextUnique)") : .integer(nextUnique)
      nextUnique += 1
    } else {
      value = ValueGenerator(dice: dice).value(for: attribute)
    }
    if attribute.isOptional, dice.chance(25) { value = .null }
    assign(value, to: attribute, of: key)
  }

  private mutating func assign(
    _ value: PlainValue, to attribute: PlainModel.Attribute, of key: Int
  ) {
    graph.set(attribute.name, of: key, value)
    edits.append(.set(key, attribute.name, value))
  }

  private mutating func delete() {
    guard let key = someKey() else { return }
    graph.delete(key)
    edits.append(.delete(key))
  }

  // MARK: Queries

  /// Returns a request that includes pending changes.
  private func query(upTo most: Int?) -> PlainRequest {
    var request = RequestGenerator(dice: dice, graph: graph).request()
    request.includesPendingChanges = true
    if let most { request.limit = dice.int(1...most) }
    return request
  }

  private mutating func deleteAll() {
    // Enough objects must remain for the requests.
    let request = query(upTo: 3)
    let keys = request.window(request.matches(in: graph))
    for key in keys { graph.delete(key) }
    edits.append(.deleteAll(request, seed: dice.next(), count: keys.count))
  }

  private mutating func updateAll() {
    let request = query(upTo: dice.chance(50) ? 8 : nil)
    let keys = request.window(request.matches(in: graph))
    var assignments: [Edit.Assignment] = []
    let attributes = model.attributes(request.entity).filter { !$0.isUnique }
    for attribute in dice.few(attributes, upTo: 2) {
      let isNull = attribute.isOptional && dice.chance(20)
      let value = isNull ? .null : ValueGenerator(dice: dice).value(for: attribute)
      assignments.append(.value(attribute.name, value))
    }
    if dice.chance(30), let composite = dice.some(model.composites(request.entity)) {
      assignments.append(.value(composite.name, value(of: composite)))
    }
    for relationship in dice.few(model.relationships(request.entity), upTo: 1) {
      let candidates = graph.keys(of: relationship.destination)
      assignments.append(
        relationship.isToMany
          ? .members(relationship, dice.few(candidates, upTo: 3))
          : .target(relationship, dice.chance(20) ? nil : dice.some(candidates)))
    }
    for key in keys {
      for assignment in assignments.sorted(by: { $0.name < $1.name }) { apply(assignment, to: key) }
    }
    edits.append(.updateAll(request, seed: dice.next(), assignments, count: keys.count))
  }

  private mutating func apply(_ assignment: Edit.Assignment, to key: Int) {
    switch assignment {
    case .value(let name, let value): graph.set(name, of: key, value)
    case .target(let relationship, let target): graph.setTarget(relationship, of: key, target)
    case .members(let relationship, let members):
      graph.setMembers(relationship, of: key, members)
    }
  }

  private mutating func relate(_ key: Int, percent: Int) {
    guard let object = graph.objects[key] else { return }
    for relationship in model.relationships(object.entity) where dice.chance(percent) {
      let candidates = graph.keys(of: relationship.destination)
      if relationship.isToMany {
        relate(key, relationship, candidates)
      } else {
        let target = dice.chance(15) ? nil : dice.some(candidates)
        graph.setTarget(relationship, of: key, target)
        edits.append(.setTarget(key, relationship, target))
      }
    }
  }

  private mutating func relate(
    _ key: Int, _ relationship: PlainModel.Relationship, _ candidates: [Int]
  ) {
    switch dice.int(0...3) {
    case 0:
      guard let member = dice.some(candidates) else { return }
      graph.add(member, to: relationship, of: key)
      edits.append(.add(key, relationship, member))
    case 1:
      guard let member = dice.some(graph.members(relationship.name, of: key)) else { return }
      graph.remove(member, from: relationship, of: key)
      edits.append(.remove(key, relationship, member))
    default:
      let members = dice.few(candidates, upTo: 4)
      graph.setMembers(relationship, of: key, members)
      edits.append(.setMembers(key, relationship, members))
    }
  }
}
