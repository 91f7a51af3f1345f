package import ArborModel
package import ArborStore
internal import Foundation

/// The expected contents of a store with the ``OfficeModel``, in plain dictionaries, and random
/// changes to them.
package struct RandomOffice {
  /// An object's attribute values and to-one targets by name.
  package struct Object: Equatable {
    package var entity: String
    package var values: [String: PropertyValue] = [:]
    package var targets: [String: ObjectNumber] = [:]
  }

  /// One side of a relationship that is stored as links.
  package struct Side: Hashable {
    package let owner: ObjectNumber
    package let relationship: String

    package init(owner: ObjectNumber, relationship: String) {
      self.owner = owner
      self.relationship = relationship
    }
  }

  package var objects: [ObjectNumber: Object] = [:]
  /// The members of each side, in order; unordered ones are sorted by number.
  package var links: [Side: [ObjectNumber]] = [:]

  package init() {}

  static let concrete = [
    "Employee", "Employee", "Manager", "Company", "Tag", "Badge", "Project", "Task",
  ]
  static let unique = ["Company": ["name"], "Employee": ["employeeID", "email"]]

  package func all(_ entities: String...) -> [ObjectNumber] {
    objects.filter { entities.contains($0.value.entity) }.map(\.key).sorted()
  }

  // MARK: Random changes

  package mutating func change(
    _ random: inout SeededRandom, newNumber: (String) throws -> ObjectNumber
  )
    throws
  {
    switch Int.random(in: 0..<16, using: &random) {
    case 0...3: try insert(&random, newNumber)
    case 4...6: update(&random)
    case 7...8: relate(&random)
    case 9...10: link(&random)
    case 11...12: order(&random)
    case 13: marry(&random)
    default:
      if let victim = objects.keys.sorted().randomElement(using: &random) { delete(victim) }
    }
  }

  private mutating func insert(
    _ random: inout SeededRandom, _ newNumber: (String) throws -> ObjectNumber
  ) throws {
    let entity = Self.concrete.randomElement(using: &random) ?? "Tag"
    let number = try newNumber(entity)
    objects[number] = Object(entity: entity)
    for name in attributes(of: entity) { set(name, of: number, &random) }
  }

  private func attributes(of entity: String) -> [String] {
    switch entity {
    case "Employee", "Manager": ["name", "email", "employeeID", "age", "salary", "hiredAt"]
    case "Company": ["name", "founded"]
    case "Tag": ["name"]
    case "Badge": ["code"]
    default: ["title"]
    }
  }

  private mutating func update(_ random: inout SeededRandom) {
    guard let number = objects.keys.sorted().randomElement(using: &random),
      let object = objects[number],
      let name = attributes(of: object.entity).randomElement(using: &random)
    else { return }
    set(name, of: number, &random)
  }

  private mutating func set(_ name: String, of number: ObjectNumber, _ random: inout SeededRandom) {
    let value: PropertyValue =
      switch name {
      case "age": .integer(.random(in: 18...30, using: &random))
      case "employeeID": .integer(.random(in: -300...300, using: &random))
      case "salary":
        Bool.random(using: &random) ? .null : .double(.random(in: 0...9, using: &random))
      case "hiredAt", "founded":
        .date(Date(timeIntervalSinceReferenceDate: .random(in: -9...9, using: &random)))
      case "code": .uuid(UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID())
      default: text(&random, isUnique: name == "email")
      }
    objects[number]?.values[name] = value
  }

  /// Returns short and long strings, some sharing a prefix that exceeds the maximum key size.
  private func text(_ random: inout SeededRandom, isUnique: Bool) -> PropertyValue {
    if isUnique, Int.random(in: 0..<3, using: &random) == 0 { return .null }
    let tail = String(Int.random(in: 0..<400, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .string(String(repeating: "long ", count: 120) + tail)
    case 1: return .string("\u{0}\u{1}ä€😀" + tail)
    case 2:
      return .string(String(repeating: "x", count: Int.random(in: 0...40, using: &random)) + tail)
    default: return .string(tail)
    }
  }

  /// Sets or clears a derived relationship: an employee's `company` or `manager`.
  private mutating func relate(_ random: inout SeededRandom) {
    guard let employee = all("Employee", "Manager").randomElement(using: &random) else { return }
    let isCompany = Bool.random(using: &random)
    let target = (isCompany ? all("Company") : all("Manager")).randomElement(using: &random)
    objects[employee]?.targets[isCompany ? "company" : "manager"] =
      Int.random(in: 0..<4, using: &random) == 0 ? nil : target
  }

  /// Changes an unordered relationship that is stored as links.
  private mutating func link(_ random: inout SeededRandom) {
    let people = all("Employee", "Manager")
    if Bool.random(using: &random) {
      guard let employee = people.randomElement(using: &random),
        let tag = all("Tag").randomElement(using: &random)
      else { return }
      toggle(employee, "tags", tag, "employees")
    } else {
      guard let task = all("Task").randomElement(using: &random),
        let person = people.randomElement(using: &random)
      else { return }
      toggle(task, "watchers", person, "~Task.watchers")
    }
  }

  private mutating func toggle(
    _ owner: ObjectNumber, _ name: String, _ member: ObjectNumber, _ inverse: String
  ) {
    let isLinked = links[Side(owner: owner, relationship: name)]?.contains(member) ?? false
    if isLinked {
      unlink(owner, name, member)
      unlink(member, inverse, owner)
    } else {
      add(owner, name, member)
      add(member, inverse, owner)
    }
  }

  private mutating func add(_ owner: ObjectNumber, _ name: String, _ member: ObjectNumber) {
    let side = Side(owner: owner, relationship: name)
    links[side, default: []].append(member)
    if name != "tasks", name != "favourites" { links[side]?.sort() }
  }

  private mutating func unlink(_ owner: ObjectNumber, _ name: String, _ member: ObjectNumber) {
    let side = Side(owner: owner, relationship: name)
    links[side]?.removeAll { $0 == member }
    if links[side]?.isEmpty ?? false { links[side] = nil }
  }

  /// Changes an ordered relationship: adds, removes or moves a member.
  private mutating func order(_ random: inout SeededRandom) {
    guard let project = all("Project").randomElement(using: &random) else { return }
    if Bool.random(using: &random) {
      guard let task = all("Task").randomElement(using: &random) else { return }
      if let old = objects[task]?.targets["project"] { unlink(old, "tasks", task) }
      objects[task]?.targets["project"] = project
      insert(task, into: Side(owner: project, relationship: "tasks"), &random)
    } else {
      guard let employee = all("Employee", "Manager").randomElement(using: &random) else { return }
      let side = Side(owner: employee, relationship: "favourites")
      if links[side]?.contains(project) ?? false {
        unlink(employee, "favourites", project)
        unlink(project, "fans", employee)
      } else {
        insert(project, into: side, &random)
        add(project, "fans", employee)
      }
    }
    for side in links.keys where Int.random(in: 0..<8, using: &random) == 0 {
      if side.relationship == "tasks" || side.relationship == "favourites" {
        links[side]?.sort()
        links[side]?.shuffle(using: &random)
      }
    }
  }

  private mutating func insert(
    _ member: ObjectNumber, into side: Side, _ random: inout SeededRandom
  ) {
    var members = links[side] ?? []
    members.insert(member, at: Int.random(in: 0...members.count, using: &random))
    links[side] = members
  }

  /// Changes the one-to-one relationship.
  private mutating func marry(_ random: inout SeededRandom) {
    guard let employee = all("Employee", "Manager").randomElement(using: &random),
      let badge = all("Badge").randomElement(using: &random)
    else { return }
    if let old = objects[employee]?.targets["badge"] { objects[old]?.targets["employee"] = nil }
    if let old = objects[badge]?.targets["employee"] { objects[old]?.targets["badge"] = nil }
    objects[employee]?.targets["badge"] = badge
    objects[badge]?.targets["employee"] = employee
  }

  /// Removes an object and every link to it.
  package mutating func delete(_ victim: ObjectNumber) {
    objects[victim] = nil
    for (number, object) in objects {
      for (name, target) in object.targets where target == victim {
        objects[number]?.targets[name] = nil
      }
    }
    for side in links.keys {
      if side.owner == victim {
        links[side] = nil
      } else {
        unlink(side.owner, side.relationship, victim)
      }
    }
  }

  // MARK: Committing

  /// Makes random changes and commits them with a note in the store's metadata.
  package mutating func commit(
    to file: StoreEngine, _ random: inout SeededRandom, changes: ClosedRange<Int> = 1...9
  ) throws {
    var changed = self
    repeat {
      changed = self
      for _ in 0..<Int.random(in: changes, using: &random) {
        try changed.change(&random) { name in
          let entity = try Draft(file).entity(name)
          return ObjectNumber(
            entity: entity.number,
            sequence: try file.takeNumbers(1, for: entity).lowerBound)
        }
      }
    } while changed.hasDuplicates || changed.objects.isEmpty
    let draft = Draft(file)
    try OfficeDifference(from: self, to: changed).write(to: draft)
    draft.changes.author = "somebody"
    let key = "note-\(Int.random(in: 0..<3, using: &random))"
    draft.changes.metadata = [(key, Bool.random(using: &random) ? nil : [1, 2, 3])]
    try draft.commit()
    self = changed
  }

  // MARK: Validating

  /// Whether two objects share a value of a unique attribute.
  package var hasDuplicates: Bool {
    for (entity, names) in Self.unique {
      for name in names {
        let family = entity == "Employee" ? ["Employee", "Manager"] : [entity]
        let values = objects.values.filter { family.contains($0.entity) }
          .compactMap { $0.values[name] }.filter { !$0.isNull }
        if Set(values).count != values.count { return true }
      }
    }
    return false
  }
}
