import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

private final class Project: ManagedObject {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Project", className: "Project",
    relationships: [
      RelationshipDescription(
        "tags", Set<Tag>.self, of: Project.self, inverse: "projects", at: \.projects),
      RelationshipDescription(
        "tasks", Set<Tag>.self, of: Project.self, inverse: "project", at: \.project),
      RelationshipDescription(
        "steps", [Tag].self, of: Project.self, inverse: "plan", at: \.plan),
      RelationshipDescription(
        "notes", [Tag].self, of: Project.self, inverse: "pages", at: \.pages),
    ])
  var tags: Set<Tag> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
    _modify {
      var change = _changeToMany(0, Set<Tag>.self)
      defer { change.finish() }
      yield &change.members
    }
  }
  var tasks: Set<Tag> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
    _modify {
      var change = _changeToMany(1, Set<Tag>.self)
      defer { change.finish() }
      yield &change.members
    }
  }
  var steps: [Tag] {
    get { _orderedToMany(2) }
    set { _setOrderedToMany(2, newValue) }
    _modify {
      var change = _changeOrderedToMany(2, [Tag].self)
      defer { change.finish() }
      yield &change.members
    }
  }
  var notes: [Tag] {
    get { _orderedToMany(3) }
    set { _setOrderedToMany(3, newValue) }
    _modify {
      var change = _changeOrderedToMany(3, [Tag].self)
      defer { change.finish() }
      yield &change.members
    }
  }
}

private final class Tag: ManagedObject {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Tag", className: "Tag",
    attributes: [AttributeDescription("number", Int.self, default: 0)],
    relationships: [
      RelationshipDescription(
        "projects", Set<Project>.self, of: Tag.self, inverse: "tags", at: \.tags),
      RelationshipDescription(
        "project", Project?.self, of: Tag.self, inverse: "tasks", at: \.tasks),
      RelationshipDescription(
        "plan", Project?.self, of: Tag.self, inverse: "steps", at: \.steps),
      RelationshipDescription(
        "pages", Set<Project>.self, of: Tag.self, inverse: "notes", at: \.notes),
    ])
  var number: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var projects: Set<Project> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
  var project: Project? {
    get { _toOne(1) }
    set { _setToOne(1, newValue) }
  }
  var plan: Project? {
    get { _toOne(2) }
    set { _setToOne(2, newValue) }
  }
  var pages: Set<Project> {
    get { _toMany(3) }
    set { _setToMany(3, newValue) }
  }
}

private struct Stop: Error {}

@Suite("Members that are changed in place") struct MembersInPlaceTests {
  private static let classes: [ManagedObject.Type] = [Project.self, Tag.self]

  private func use<R>(_ body: (PersistentStore) throws -> R) throws -> R {
    try ObjectStore.use(
      ManagedObjectModel(for: Self.classes), classes: Self.classes, body)
  }

  /// One change of a set, which is applied to members and to plain numbers alike.
  private static func change<Element: Hashable>(
    _ set: inout Set<Element>, _ choice: Int, _ all: [Element], _ random: inout SeededRandom
  ) throws {
    func any() -> Element { all[Int.random(in: 0..<all.count, using: &random)] }
    func some() -> [Element] { (0..<Int.random(in: 0...5, using: &random)).map { _ in any() } }
    switch choice {
    case 0...3: set.insert(any())
    case 4, 5: set.remove(any())
    case 6: set.formUnion(some())
    case 7: set.subtract(some())
    case 8: set.formSymmetricDifference(some())
    case 9: set = Set(some())
    case 10: set.removeAll(keepingCapacity: Bool.random(using: &random))
    case 11: set = set.filter { _ in true }
    case 12:
      // Another set of the same size, which nothing hashes while the members are changed.
      var other = Set(some())
      swap(&set, &other)
    case 13:
      // A copy shares its storage, and is changed instead.
      var copy = set
      copy.insert(any())
      set = []
      set = copy
    case 14:
      set.insert(any())
      throw Stop()
    default: _ = set.update(with: any())
    }
  }

  private static func change<Element: Hashable>(
    _ list: inout [Element], _ choice: Int, _ all: [Element], _ random: inout SeededRandom
  ) throws {
    func position(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    let element = all[position(all.count)]
    switch choice {
    case 0...5: list.append(element)
    case 6: list.insert(element, at: position(list.count + 1))
    case 7 where !list.isEmpty: list.remove(at: position(list.count))
    case 8 where list.count > 1: list.swapAt(position(list.count), position(list.count))
    case 9: list.reverse()
    case 10: list.removeAll(keepingCapacity: true)
    case 11 where !list.isEmpty:
      list[position(list.count)] = element
      list.append(all[position(all.count)])
    case 12: list += [element, element]
    case 13 where !list.isEmpty: list.removeLast()
    default: throw Stop()
    }
  }

  /// Returns the elements of a list without those that are repeated.
  private static func distinct(_ list: [Int]) -> [Int] {
    var known: Set<Int> = []
    return list.filter { known.insert($0).inserted }
  }

  /// The plain form of a project.
  private struct Plain: Equatable {
    var tags: Set<Int> = []
    var tasks: Set<Int> = []
    var steps: [Int] = []
    var notes: [Int] = []

    init(_ project: Project) {
      tags = Set(project.tags.map(\.number))
      tasks = Set(project.tasks.map(\.number))
      steps = project.steps.map(\.number)
      notes = project.notes.map(\.number)
    }
  }

  @Test(
    "Random changes in place have the result of the same changes of plain collections",
    arguments: 1...UInt64(TestLength.of(20, long: 2_000)))
  func randomChanges(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try use { store in
      let context = store.makeContext()
      var tags: [Tag] = []
      var projects: [Project] = []
      for number in 0..<12 {
        let tag = context.insert(Tag.self)
        tag.number = number
        tags.append(tag)
      }
      for _ in 0..<2 { projects.append(context.insert(Project.self)) }
      try context.commit()
      let history = UndoHistory()
      context.undoHistory = history
      var plain = projects.map(Plain.init)
      let numbers = Array(0..<12)
      for step in 0..<80 {
        let index = Int.random(in: 0..<2, using: &random)
        let project = projects[index]
        let choice = Int.random(in: 0..<16, using: &random)
        var same = random
        let before = plain
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
          same = random
          try? Self.change(&project.tags, choice, tags, &random)
          try? Self.change(&plain[index].tags, choice, numbers, &same)
        case 2, 3:
          same = random
          try? Self.change(&project.tasks, choice, tags, &random)
          try? Self.change(&plain[index].tasks, choice, numbers, &same)
          plain[1 - index].tasks.subtract(
            plain[index].tasks.subtracting(before[index].tasks))
        case 4:
          same = random
          try? Self.change(&project.steps, choice, tags, &random)
          try? Self.change(&plain[index].steps, choice, numbers, &same)
          plain[index].steps = Self.distinct(plain[index].steps)
          let joined = Set(plain[index].steps).subtracting(before[index].steps)
          plain[1 - index].steps.removeAll(where: joined.contains)
        case 5:
          same = random
          try? Self.change(&project.notes, choice, tags, &random)
          try? Self.change(&plain[index].notes, choice, numbers, &same)
          plain[index].notes = Self.distinct(plain[index].notes)
        case 6:
          // The other side changes.
          let tag = tags[Int.random(in: 0..<12, using: &random)]
          tag.project = project
          plain[index].tasks.insert(tag.number)
          plain[1 - index].tasks.remove(tag.number)
          if tag.projects.insert(project).inserted { plain[index].tags.insert(tag.number) }
        case 7:
          if Bool.random(using: &random) {
            try context.commit()
          } else {
            context.rollback()
            plain = projects.map(Plain.init)
          }
        default:
          guard history.canUndo else { continue }
          let former = projects.map(Plain.init)
          history.undo()
          history.redo()
          #expect(projects.map(Plain.init) == former, "seed \(seed), step \(step)")
          if Bool.random(using: &random) { history.undo() }
          plain = projects.map(Plain.init)
        }
        if Bool.random(using: &random) { history.closeGroup() }
        #expect(
          projects.map(Plain.init) == plain, "seed \(seed), step \(step), change \(choice)")
        for tag in tags {
          let owners = Set(projects.indices.filter { plain[$0].tags.contains(tag.number) })
          #expect(
            Set(tag.projects) == Set(owners.map { projects[$0] }), "seed \(seed), step \(step)")
        }
      }
      try context.commit()
      let other = store.makeContext()
      let stored = try projects.map { try other.object(with: $0.objectID) as? Project }
      #expect(stored.compactMap(\.self).map(Plain.init) == plain, "seed \(seed)")
    }
  }

  @Test("A set that replaces the members without being hashed is found")
  func replacedSets() throws {
    try use { store in
      let context = store.makeContext()
      let tags = (0..<20).map { _ in context.insert(Tag.self) }
      let project = context.insert(Project.self)
      for tag in tags.prefix(10) { project.tags.insert(tag) }
      // Takes the place of the kept set.
      project.tags.insert(tags[0])
      var other = Set(tags.suffix(10))
      swap(&project.tags, &other)
      #expect(project.tags == Set(tags.suffix(10)) && other == Set(tags.prefix(10)))
      project.tags.insert(tags[10])
      let removed = project.tags.popFirst()
      #expect(removed.map { !project.tags.contains($0) && $0.projects.isEmpty } ?? false)
      func exchange(_ members: inout Set<Tag>) throws {
        let first = members.removeFirst()
        members.insert(tags[0])
        if first !== tags[0] { throw Stop() }
      }
      #expect(throws: Stop.self) { try exchange(&project.tags) }
      #expect(project.tags.count == 9 && tags[0].projects == [project])
      try context.commit()
    }
  }

  @Test("A change of the same members during a change in place is overwritten by it")
  func changeDuringChange() throws {
    try use { store in
      let context = store.makeContext()
      let tags = (0..<6).map { _ in context.insert(Tag.self) }
      let project = context.insert(Project.self)
      project.tags = [tags[0], tags[1]]
      project.tags.insert(tags[2])
      func change(_ members: inout Set<Tag>) {
        tags[3].projects = [project]
        project.tags.remove(tags[0])
        members.insert(tags[4])
      }
      change(&project.tags)
      #expect(project.tags == [tags[0], tags[1], tags[2], tags[4]])
      #expect(tags[3].projects.isEmpty && tags[0].projects == [project])
      project.notes = [tags[0]]
      func append(_ members: inout [Tag]) {
        project.notes.append(tags[1])
        members.append(tags[2])
      }
      append(&project.notes)
      #expect(project.notes == [tags[0], tags[2]])
      try context.commit()
    }
  }

  @Test("Members that another context adds are kept, and a deleted object gets none")
  func otherContexts() throws {
    try use { store in
      let (one, two) = (store.makeContext(), store.makeContext())
      let project = one.insert(Project.self)
      let tags = (0..<4).map { _ in one.insert(Tag.self) }
      project.tags = [tags[0], tags[1]]
      project.notes = [tags[0]]
      try one.commit()
      let theirs = try #require(try two.object(with: project.objectID) as? Project)
      let last = try #require(try two.object(with: tags[3].objectID) as? Tag)
      project.tags.insert(tags[2])
      project.notes.append(tags[2])
      theirs.tags.insert(last)
      theirs.notes.append(last)
      try two.commit()
      // The kept members are those of an older commit.
      project.tags.remove(tags[0])
      project.notes.append(tags[1])
      try one.commit()
      #expect(project.tags == [tags[1], tags[2], tags[3]])
      #expect(Set(project.notes) == Set(tags))

      one.delete(project)
      project.tags.insert(tags[0])
      #expect(tags[0].projects.isEmpty)
      try one.commit()
    }
  }

  @Test("Adding twice as many members one by one takes about twice the time")
  func workIsLinear() throws {
    func time(_ count: Int, _ add: (Project, Tag) -> Void) throws -> Double {
      try use { store in
        let context = store.makeContext()
        let project = context.insert(Project.self)
        let tags = (0..<count).map { _ in context.insert(Tag.self) }
        let start = Self.processorTime()
        for tag in tags { add(project, tag) }
        let time = Self.processorTime() - start
        context.rollback()
        return time
      }
    }
    let additions: [(String, (Project, Tag) -> Void)] = [
      ("tags", { $0.tags.insert($1) }), ("tasks", { $0.tasks.insert($1) }),
    ]
    for (name, add) in additions {
      let times = try (0..<3).map { _ in (try time(2_000, add), try time(4_000, add)) }
      let ratio = (times.map(\.1).min() ?? 0) / (times.map(\.0).min() ?? 1)
      #expect(ratio < 3, "\(name): \(times)")
    }
  }

  /// The processor time of the current thread in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
