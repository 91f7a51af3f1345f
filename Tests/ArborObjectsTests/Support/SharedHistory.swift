import ArborModel
import ArborWork
import TestSupport

@testable import ArborObjects

/// One random history of several contexts on one store: what it does to them it does to naive ones.
///
/// Every context lets its own changes win, and takes commits of the others in at each operation.
/// Undo groups are closed after each change, or stay open for some steps of all contexts.
struct SharedHistory {
  typealias Difference = PlainContext.Difference
  typealias Group = PlainContext.Group

  /// A group that goes on. Each time that others have committed, a part of it ends.
  struct OpenGroup {
    var parts: Group = []
    /// What the context saw when the present part began, and after its last change.
    var start: PlainContext.View
    var end: PlainContext.View
    /// What its changes did, each by itself.
    var pieces: Group = []
    /// The newest commit that was taken in when the present part began.
    var sequence: UInt64
    /// Whether anything was done.
    var isBegun = false
    /// How much of it was committed.
    var committed = (parts: 0, isBegun: false)

    mutating func endPart(_ view: PlainContext.View, _ sequence: UInt64) {
      parts.append(PlainContext.Difference(start, end, pieces))
      pieces = []
      (start, end) = (view, view)
      self.sequence = sequence
    }
  }

  /// A context, what it should be, and its undo stacks.
  struct Side {
    let context: ManagedObjectContext
    var plain = PlainContext()
    var undo: [Group] = []
    var redo: [Group] = []
    var committedUndo: [Group] = []
    var open: OpenGroup?
  }

  private(set) var sides: [Side]
  private(set) var store = PlainStore()
  private(set) var ids: [Int: ObjectID] = [:]
  private var nextKey = 1
  private let seed: UInt64
  /// What the present step draws from: a step does the same whatever other steps are left out.
  private var random: SeededRandom
  private var log: [String] = []

  init(_ store: PersistentStore, contexts count: Int, isOrdered: Bool, seed: UInt64) {
    self.store.isOrdered = isOrdered
    sides = (0..<count).map { _ in
      let context = store.makeContext()
      context.mergePolicy = .mergeByPropertyObjectWins
      context.undoHistory = UndoHistory()
      return Side(context: context)
    }
    self.seed = seed
    random = SeededRandom(seed: seed)
  }

  /// Runs the steps of some places of the history.
  mutating func run(steps: some Sequence<Int>) throws {
    do {
      if store.isOrdered { try populate() }
      for index in steps {
        random = SeededRandom(seed: seed &+ UInt64(index) &* 0xD6E8_FEB8_6659_FD93)
        let place = Int.random(in: sides.indices, using: &random)
        try step(place)
        try compare(place)
      }
      for place in sides.indices {
        try commit(place)
        try compare(place)
      }
    } catch let error as ArborError {
      throw difference(error.message)
    }
  }

  private mutating func step(_ place: Int) throws {
    sides[place].plain.sync(store)
    switch Int.random(in: 0..<27, using: &random) {
    case 24..<27: try sides[place].open == nil ? begin(place) : end(place)
    case 0..<15 where sides[place].open != nil: try editOpen(place)
    case 0..<14: try group(place, of: 1)
    case 14: try group(place, of: 3)
    case 15..<18: try commit(place)
    case 18: rollback(place)
    case 19..<22: try undo(place)
    default: try redo(place)
    }
  }

  private func note(_ place: Int, _ what: String) -> String { "\(place): \(what)" }

  // MARK: Changing

  private mutating func group(_ place: Int, of count: Int) throws {
    let context = sides[place].context
    if count > 1 { context.undoHistory?.beginGroup(named: "") }
    let before = sides[place].plain.view(store)
    var pieces: [Difference] = []
    for _ in 0..<count {
      guard let edit = try edit(place) else { continue }
      let before = sides[place].plain.view(store)
      edit.body(&sides[place].plain)
      pieces.append(piece(of: edit, before, place))
    }
    if count > 1 { context.undoHistory?.endGroup() } else { context.processPendingChanges() }
    let group = [Difference(before, sides[place].plain.view(store), pieces)]
    if !group.hasNoEffect || count > 1 && !pieces.isEmpty { sides[place].redo = [] }
    close(group, place)
  }

  private mutating func piece(
    of edit: Edit, _ before: PlainContext.View, _ place: Int
  ) -> Difference {
    var piece = Difference(before, sides[place].plain.view(store))
    if let key = edit.written { piece.objects.insert(key) }
    piece.lists = sides[place].plain.takeTouched()
    return piece
  }

  private mutating func close(_ group: Group, _ place: Int) {
    if group.hasNoEffect {
      sides[place].plain.settle(group, store)
    } else {
      sides[place].undo.append(group)
    }
  }

  // MARK: Open groups

  private mutating func begin(_ place: Int) throws {
    log.append(note(place, "begin a group"))
    _ = try sides[place].context.count("Team")
    sides[place].context.undoHistory?.beginGroup()
    let view = sides[place].plain.view(store)
    sides[place].open = OpenGroup(
      start: view, end: view, sequence: sides[place].context.work.sequence)
  }

  /// A change in the open group.
  private mutating func editOpen(_ place: Int) throws {
    try endPart(place)
    let before = sides[place].plain.view(store)
    guard let edit = try edit(place) else { return }
    edit.body(&sides[place].plain)
    let (piece, view) = (piece(of: edit, before, place), sides[place].plain.view(store))
    sides[place].open?.pieces.append(piece)
    sides[place].open?.end = view
    sides[place].open?.isBegun = true
    sides[place].redo = []
  }

  /// Ends a part of the open group where others have committed since.
  private mutating func endPart(_ place: Int) throws {
    let context = sides[place].context
    _ = try context.count("Team")
    guard let open = sides[place].open, open.sequence != context.work.sequence else { return }
    let view = sides[place].plain.view(store)
    sides[place].open?.endPart(view, context.work.sequence)
  }

  private mutating func end(_ place: Int) throws {
    guard sides[place].open != nil else { return }
    log.append(note(place, "end the group"))
    try endPart(place)
    sides[place].context.undoHistory?.endGroup()
    closeOpen(place)
  }

  /// Takes down that the open group has ended.
  private mutating func closeOpen(_ place: Int) {
    guard var open = sides[place].open else { return }
    sides[place].open = nil
    open.endPart(open.end, open.sequence)
    close(open.parts, place)
  }

  /// An edit of the naive context that has been made in the real one.
  private struct Edit {
    /// The object whose property was set.
    var written: Int?
    let body: (inout PlainContext) -> Void
  }

  private mutating func edit(_ place: Int) throws -> Edit? {
    let (context, store) = (sides[place].context, store)
    let items = sides[place].plain.items(store)
    func key(_ entity: String, _ random: inout SeededRandom) -> Int? {
      items.keys.filter { items[$0]?.entity == entity }.sorted().randomElement(using: &random)
    }
    switch Int.random(in: 0..<(store.isOrdered ? 24 : 16), using: &random) {
    case 16...: return try arrange(place)
    case 0..<3 where items.count < (store.isOrdered ? 7 : 14): return try insert(place)
    case 0..<5:
      guard let key = items.keys.sorted().randomElement(using: &random) else { return nil }
      log.append(note(place, "delete \(key)"))
      try context.delete(object(key, context))
      return Edit { $0.delete(key, store) }
    case 5..<10:
      guard let key = items.keys.sorted().randomElement(using: &random) else { return nil }
      let name = PlainStore.attributes.randomElement(using: &random) ?? "a"
      let value = Bool.random(using: &random) ? nil : Int.random(in: 0..<9, using: &random)
      log.append(note(place, "\(key).\(name) = \(value.map(String.init) ?? "nil")"))
      try object(key, context).setValue(
        value.map { .integer(Int64($0)) } ?? Value.null, forKey: name)
      return Edit(written: key) { $0.set(key, name, value, store) }
    case 10..<13:
      guard let person = key("Person", &random) else { return nil }
      let team = Bool.random(using: &random) ? nil : key("Team", &random)
      guard items[person]?.values["team"] != team else { return nil }
      log.append(note(place, "\(person).team = \(team.map(String.init) ?? "nil")"))
      try object(person, context).setObject(team.map { try object($0, context) }, forKey: "team")
      return Edit { $0.set(person, "team", team, store) }
    default:
      guard let person = key("Person", &random), let skill = key("Skill", &random) else {
        return nil
      }
      let link = PlainStore.Link(person: person, skill: skill)
      let isThere = !sides[place].plain.links(store).contains(link)
      log.append(note(place, "\(person).skills \(isThere ? "+" : "-")= \(skill)"))
      let (owner, member) = try (object(person, context), object(skill, context))
      if isThere {
        try owner.add(member, forKey: "skills")
      } else {
        try owner.remove(member, forKey: "skills")
      }
      return Edit { $0.setLink(link, isThere, store) }
    }
  }

  /// Gives the members of a list another sequence, perhaps with new ones in their midst.
  private mutating func arrange(_ place: Int) throws -> Edit? {
    let (context, store) = (sides[place].context, store)
    let plain = sides[place].plain
    let lists = plain.lists(store).keys.sorted { ($0.owner, $0.name) < ($1.owner, $1.name) }
    guard let list = lists.randomElement(using: &random) else { return nil }
    let former = plain.members(list, store)
    var members = former
    if Bool.random(using: &random) { members.shuffle(using: &random) }
    let entity = list.name == "skills" ? "Skill" : "Person"
    let others = plain.items(store).filter { $0.value.entity == entity }.keys
    for joining in others.filter({ !former.contains($0) }).sorted()
    where Int.random(in: 0..<3, using: &random) == 0 {
      members.insert(joining, at: .random(in: 0...members.count, using: &random))
    }
    guard members != former else { return nil }
    log.append(note(place, "\(list.owner).\(list.name) = \(members)"))
    try object(list.owner, context).setObjects(
      members.map { try object($0, context) }, forKey: list.name)
    return Edit { plain in
      for member in members where !former.contains(member) {
        switch list.name {
        case "skills": plain.setLink(.init(person: list.owner, skill: member), true, store)
        case "holders": plain.setLink(.init(person: member, skill: list.owner), true, store)
        default: plain.set(member, "team", list.owner, store)
        }
      }
      plain.arrange(members, list, store)
    }
  }

  /// Begins with some objects, so that the contexts meet in the same few lists.
  private mutating func populate() throws {
    let history = sides[0].context.undoHistory
    history?.isEnabled = false
    for entity in ["Team", "Skill", "Person", "Person", "Person", "Person", "Skill"] {
      try insert(0, entity).body(&sides[0].plain)
    }
    history?.isEnabled = true
    try commit(0)
  }

  private mutating func insert(_ place: Int, _ kind: String? = nil) throws -> Edit {
    let entity = kind ?? ["Person", "Person", "Team", "Skill"].randomElement(using: &random) ?? ""
    let key = nextKey
    nextKey += 1
    log.append(note(place, "\(key) = insert \(entity)"))
    ids[key] = try sides[place].context.insert(entity).objectID
    return Edit { $0.insert(key, entity) }
  }

  func object(_ key: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    guard let id = ids[key] else { throw difference("no ID of \(key)") }
    return try context.object(with: id)
  }

  private mutating func commit(_ place: Int) throws {
    log.append(note(place, "commit"))
    if sides[place].open != nil { try endPart(place) }
    try sides[place].context.commit()
    sides[place].plain.sync(store)
    sides[place].plain.commit(to: &store)
    sides[place].committedUndo = sides[place].undo
    guard var open = sides[place].open else { return }
    open.endPart(sides[place].plain.view(store), sides[place].context.work.sequence)
    open.committed = (open.parts.count, open.isBegun)
    sides[place].open = open
  }

  private mutating func rollback(_ place: Int) {
    log.append(note(place, "rollback"))
    sides[place].context.rollback()
    sides[place].plain.rollback()
    sides[place].undo = sides[place].committedUndo
    sides[place].redo = []
    guard var open = sides[place].open else { return }
    open.endPart(sides[place].plain.view(store), sides[place].context.work.sequence)
    open.parts.removeLast(open.parts.count - open.committed.parts)
    open.isBegun = open.committed.isBegun
    sides[place].open = open
  }

  private mutating func undo(_ place: Int) throws {
    log.append(note(place, "undo"))
    if sides[place].open != nil { try endPart(place) }
    sides[place].context.undo()
    closeOpen(place)
    guard let group = sides[place].undo.popLast() else { return }
    sides[place].redo.append(replay(group, place))
  }

  private mutating func redo(_ place: Int) throws {
    log.append(note(place, "redo"))
    if sides[place].open != nil { try endPart(place) }
    sides[place].context.redo()
    closeOpen(place)
    guard let group = sides[place].redo.popLast() else { return }
    sides[place].undo.append(replay(group, place))
  }

  /// Takes a group back; returns what takes that back again.
  private mutating func replay(_ group: Group, _ place: Int) -> Group {
    let before = sides[place].plain.view(store)
    _ = sides[place].plain.takeTouched()
    sides[place].plain.undo(group, store)
    var result = [Difference(before, sides[place].plain.view(store))]
    result[0].lists = sides[place].plain.takeTouched()
    sides[place].plain.settle(group, store)
    sides[place].plain.settle(result, store)
    return result
  }

  func difference(_ what: String) -> Mismatch {
    Mismatch(
      description: "\(what)\n\(log.joined(separator: "\n"))\n\(store)\n"
        + sides.map { "\($0.plain)" }.joined(separator: "\n"))
  }
}
