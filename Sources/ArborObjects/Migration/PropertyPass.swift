internal import ArborModel
internal import ArborStore
internal import Foundation

/// Fills what begins anew in the copy of a store, without code: each value and each link of the
/// original, where the newer model has room for it.
struct PropertyPass {
  private let migration: Migration
  private let models: StagedModels

  init(_ migration: Migration) {
    self.migration = migration
    models = migration.models
  }

  /// What one entity's objects have to be given.
  private struct Work {
    let former: EntitySchema
    var attributes: [(name: String, source: String, type: AttributeType)] = []
    var relationships: [(name: String, source: String, isToMany: Bool)] = []
    var isDerived = false
    var isEmpty: Bool { attributes.isEmpty && relationships.isEmpty && !isDerived }
  }

  /// Fills everything. What has no room is in the journal's problems.
  func run() throws {
    let works = works()
    for work in works {
      try migration.call { place in
        try migration.pass(over: work.former.name, [work.former], behind: place) { old, new in
          if let new { try fill(new, from: old, work) }
        }
      }
    }
    // One side of a link may have been taken away by what another object brings along.
    for work in works where !work.relationships.isEmpty {
      try migration.call { place in
        try migration.pass(over: work.former.name, [work.former], behind: place) { old, new in
          if let new { try compare(new, with: old, work) }
        }
      }
    }
  }

  private func works() -> [Work] {
    let old = migration.oldContext.schema
    return old.entities.filter(migration.isKept).compactMap { former in
      guard let name = models.newNames[former.name],
        let entity = migration.newContext.schema.entity(named: name),
        let description = models.relaxed.entity(named: name)
      else { return nil }
      var work = Work(former: former)
      let lineage = Set(models.relaxed.lineage(of: description).map(\.name))
      for anew in models.anew where lineage.contains(anew.entity) {
        switch entity.property(named: anew.property) {
        case .attribute(let attribute):
          guard let source = anew.source, former.property(named: source) != nil else { continue }
          work.attributes.append((anew.property, source, attribute.description.type))
        case .relationship(let relationship):
          guard !relationship.description.isTransient,
            let source = models.relationshipSources[name]?[anew.property],
            former.ownRelationship(source).map({ !$0.description.isTransient }) ?? false
          else { continue }
          work.relationships.append((anew.property, source, relationship.isToMany))
        case nil: continue
        }
      }
      work.isDerived = models.computed.keys.contains(where: lineage.contains)
      return work.isEmpty ? nil : work
    }
  }

  // MARK: One object

  private func fill(_ new: ManagedObject, from old: ManagedObject, _ work: Work) throws {
    for attribute in work.attributes {
      let value = try old.value(forKey: attribute.source)
      if value.isNull { continue }
      guard let fitting = attribute.type.exactly(value) else {
        problem(old, attribute.source, "a value that \(attribute.type) cannot hold")
        continue
      }
      try new.setValue(fitting, forKey: attribute.name)
    }
    for relationship in work.relationships {
      let members = try members(of: old, relationship.source, new, relationship.name)
      if relationship.isToMany {
        try new.setObjects(members, forKey: relationship.name)
      } else if members.count > 1 {
        problem(old, relationship.source, "more than one member")
      } else {
        try new.setObject(members.first, forKey: relationship.name)
      }
    }
    if work.isDerived { migration.newContext.derivedAnew.insert(new.number) }
  }

  private func compare(_ new: ManagedObject, with old: ManagedObject, _ work: Work) throws {
    for relationship in work.relationships {
      let expected = try members(
        of: old, relationship.source, new, relationship.name, reports: false)
      let found =
        relationship.isToMany
        ? try new.objects(forKey: relationship.name).map(\.objectID)
        : try new.object(forKey: relationship.name).map { [$0.objectID] } ?? []
      guard expected.count <= 1 || relationship.isToMany,
        Set(expected.map(\.objectID)) != Set(found)
      else { continue }
      problem(
        old, relationship.source,
        "links that the relationship back of \(relationship.name) has no "
          + "counterpart of")
    }
  }

  /// What has become of an object's members, without those that are gone.
  ///
  /// - Parameters:
  ///   - new: The object to link them with, which members of another entity cannot be.
  ///   - reports: Whether such members are problems.
  private func members(
    of old: ManagedObject, _ source: String, _ new: ManagedObject, _ name: String,
    reports: Bool = true
  ) throws -> [ManagedObject] {
    let isToMany = old.binding.entity.ownRelationship(source)?.isToMany ?? false
    let members =
      isToMany
      ? try old.objects(forKey: source) : try old.object(forKey: source).map { [$0] } ?? []
    let ids = members.compactMap(migration.newID)
    let made = try migration.newContext.objects(with: ids)
    guard let relationship = new.binding.entity.ownRelationship(name) else {
      return made
    }
    let schema = migration.newContext.schema
    let kinds = schema.kinds(of: schema.entities[relationship.destination])
    let fitting = made.filter { kinds.contains($0.objectID.entityName) }
    if reports, fitting.count < made.count {
      problem(
        old, source, "members that are no \(schema.entities[relationship.destination].name)")
    }
    return fitting
  }

  private func problem(_ old: ManagedObject, _ property: String, _ what: String) {
    migration.journal.note(
      MigrationProblem(entity: old.objectID.entityName, property: property, what: what),
      old.objectID.number)
  }
}

/// What objects of the older model keep from becoming those of the newer one.
struct MigrationProblem: Codable, Hashable {
  let entity: String
  let property: String
  /// What the objects have.
  let what: String
  private(set) var count = 0
  /// The numbers of the first of them.
  private(set) var first: [UInt64] = []

  static let namedObjects = 3

  init(entity: String, property: String, what: String) {
    self.entity = entity
    self.property = property
    self.what = what
  }

  /// Whether two problems are the same one of different objects.
  func isSame(as other: Self) -> Bool {
    entity == other.entity && property == other.property && what == other.what
  }

  mutating func add(_ number: UInt64) {
    count += 1
    if first.count < Self.namedObjects { first.append(number) }
  }

  /// What it is, and what to do about it.
  var message: String {
    let names = first.map { "\(entity) \($0)" }.joined(separator: ", ")
    let objects = count == 1 ? "there is 1 object" : "there are \(count) objects"
    return "\(entity).\(property): \(objects) with \(what) (\(names)"
      + (count > first.count ? " and more" : "")
      + "); change them with the former model, or let a MigrationStep migrate them."
  }
}

extension MigrationJournal {
  mutating func note(_ problem: MigrationProblem, _ number: UInt64) {
    let index =
      problems.firstIndex { $0.isSame(as: problem) }
      ?? {
        problems.append(problem)
        return problems.count - 1
      }()
    problems[index].add(number)
  }
}

extension AttributeType {
  /// A value as one of this type, where that holds it: converted there and back it is the same.
  func exactly(_ value: Value) -> Value? {
    switch (self, value) {
    case (.integer16, _), (.integer32, _), (.integer64, _):
      guard let number = value.exactInteger else { return fitting(value) }
      return fitting(.integer(number))
    case (.float, .double(let number)):
      return Double(Float(number)) == number ? .double(number) : nil
    case (.float, .integer(let number)):
      return Float(exactly: number).map { .double(Double($0)) }
    case (.double, .integer(let number)):
      return Double(exactly: number).map { .double($0) }
    case (.float, .decimal(let number)), (.double, .decimal(let number)):
      let double = NSDecimalNumber(decimal: number).doubleValue
      guard let back = Decimal(string: "\(double)"), back == number else { return nil }
      return exactly(.double(double))
    default: return fitting(value)
    }
  }
}

extension Value {
  /// The number where it is a whole one; nil for others and for what is no number.
  fileprivate var exactInteger: Int64? {
    switch self {
    case .integer(let number): number
    case .double(let number): Int64(exactly: number)
    case .decimal(var number):
      {
        var whole = Decimal()
        NSDecimalRound(&whole, &number, 0, .plain)
        return whole == number ? Int64("\(whole)") : nil
      }()
    default: nil
    }
  }
}

extension EntitySchema {
  fileprivate func ownRelationship(_ name: String) -> RelationshipSchema? {
    guard case .relationship(let relationship) = property(named: name) else { return nil }
    return relationship
  }
}
