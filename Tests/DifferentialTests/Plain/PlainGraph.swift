/// An object graph of dictionaries that maintains inverse relationships.
struct PlainGraph {
  struct Object {
    var key: Int
    var entity: Int
    var values: [String: PlainValue] = [:]
    var targets: [String: Int] = [:]
    var members: [String: [Int]] = [:]
  }

  let model: PlainModel
  /// The objects by key. Keys ascend in the order of insertion.
  private(set) var objects: [Int: Object] = [:]
  /// The entity of every key ever used.
  private var entities: [Int: Int] = [:]
  private var nextKey = 1

  init(_ model: PlainModel) { self.model = model }

  /// Returns the keys of an entity's objects in the order of their IDs: by entity in the order of
  /// the model, then by insertion.
  func keys(of entity: Int, includingSubentities: Bool = true) -> [Int] {
    objects.values
      .filter { includingSubentities ? model.isKind($0.entity, of: entity) : $0.entity == entity }
      .map(\.key).sorted { isBefore($0, $1) }
  }

  /// Returns a number that sorts like the object's ID.
  func rank(_ key: Int) -> Int { (entities[key] ?? 0) << 32 | key }

  func isBefore(_ left: Int, _ right: Int) -> Bool { rank(left) < rank(right) }

  // MARK: Reading

  func value(_ name: String, of key: Int) -> PlainValue { objects[key]?.values[name] ?? .null }

  func target(_ name: String, of key: Int) -> Int? { objects[key]?.targets[name] }

  /// Returns the members in their order if the relationship is ordered, otherwise in the order of
  /// their IDs.
  func members(_ name: String, of key: Int) -> [Int] {
    guard let object = objects[key], let members = object.members[name] else { return [] }
    let isOrdered = model.relationship(name, of: object.entity)?.isOrdered ?? false
    return isOrdered ? members : members.sorted { isBefore($0, $1) }
  }

  // MARK: Changing

  mutating func insert(_ entity: Int) -> Int {
    defer { nextKey += 1 }
    objects[nextKey] = Object(key: nextKey, entity: entity)
    entities[nextKey] = entity
    return nextKey
  }

  /// Restores an earlier state. Keys are never reused.
  mutating func restore(_ earlier: PlainGraph) { objects = earlier.objects }

  mutating func set(_ name: String, of key: Int, _ value: PlainValue) {
    objects[key]?.values[name] = value
  }

  /// Deletes an object and removes it from all relationships.
  mutating func delete(_ key: Int) {
    objects[key] = nil
    for other in objects.keys {
      for (name, target) in objects[other]?.targets ?? [:] where target == key {
        objects[other]?.targets[name] = nil
      }
      for name in (objects[other]?.members ?? [:]).keys {
        objects[other]?.members[name]?.removeAll { $0 == key }
      }
    }
  }

  mutating func setTarget(_ relationship: PlainModel.Relationship, of key: Int, _ target: Int?) {
    let former = objects[key]?.targets[relationship.name]
    if former == target { return }
    if let former { unlink(key, relationship, former) }
    if let target { link(key, relationship, target) }
  }

  mutating func setMembers(
    _ relationship: PlainModel.Relationship, of key: Int, _ members: [Int]
  ) {
    let former = objects[key]?.members[relationship.name] ?? []
    for member in former where !members.contains(member) { unlink(key, relationship, member) }
    for member in members where !former.contains(member) { link(key, relationship, member) }
    objects[key]?.members[relationship.name] = members
  }

  mutating func add(_ member: Int, to relationship: PlainModel.Relationship, of key: Int) {
    let former = objects[key]?.members[relationship.name] ?? []
    if !former.contains(member) { link(key, relationship, member) }
  }

  mutating func remove(_ member: Int, from relationship: PlainModel.Relationship, of key: Int) {
    let former = objects[key]?.members[relationship.name] ?? []
    if former.contains(member) { unlink(key, relationship, member) }
  }

  private func inverse(_ relationship: PlainModel.Relationship) -> PlainModel.Relationship? {
    relationship.inverse.flatMap { model.relationship($0, of: relationship.destination) }
  }

  private mutating func link(
    _ key: Int, _ relationship: PlainModel.Relationship, _ other: Int
  ) {
    if let inverse = inverse(relationship) {
      if !inverse.isToMany, let former = objects[other]?.targets[inverse.name] {
        unlink(former, relationship, other)
      }
      attach(other, inverse, key)
    }
    attach(key, relationship, other)
  }

  private mutating func unlink(
    _ key: Int, _ relationship: PlainModel.Relationship, _ other: Int
  ) {
    detach(key, relationship, other)
    if let inverse = inverse(relationship) { detach(other, inverse, key) }
  }

  private mutating func attach(
    _ key: Int, _ relationship: PlainModel.Relationship, _ other: Int
  ) {
    if relationship.isToMany {
      let members = objects[key]?.members[relationship.name] ?? []
      if !members.contains(other) {
        objects[key]?.members[relationship.name, default: []].append(other)
      }
    } else {
      objects[key]?.targets[relationship.name] = other
    }
  }

  private mutating func detach(
    _ key: Int, _ relationship: PlainModel.Relationship, _ other: Int
  ) {
    if relationship.isToMany {
      objects[key]?.members[relationship.name]?.removeAll { $0 == other }
    } else if objects[key]?.targets[relationship.name] == other {
      objects[key]?.targets[relationship.name] = nil
    }
  }
}

extension PlainGraph: CustomStringConvertible {
  var description: String {
    objects.keys.sorted { isBefore($0, $1) }.compactMap { objects[$0] }.map { object in
      var parts = object.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      parts += object.targets.sorted { $0.key < $1.key }.map { "\($0.key)→#\($0.value)" }
      parts += object.members.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }
        .map { "\($0.key)→\($0.value)" }
      return "#\(object.key) \(model.entities[object.entity].name) "
        + parts.joined(separator: " ")
    }.joined(separator: "\n")
  }
}
