import ArborModel
import TestSupport

@testable import ArborObjects

/// A random history of several contexts on one store, whose changes are also applied to naive ones.
///
/// Under the policy of every context, its own changes win, and each operation merges the commits of
/// the others. Undo groups are closed after each change, or stay open for some steps of all
/// contexts.
struct SharedHistory {
  typealias Difference = PlainContext.Difference
  typealias Group = PlainContext.Group

  /// An open undo group, which is split at each concurrent commit.
  struct OpenGroup {
    var parts: Group = []
    /// The state when the current part began. `end` is the state after its last change.
    var start: PlainContext.View
    var end: PlainContext.View
    /// The changes of the current part.
    var pieces: Group = []
    /// The newest merged commit when the current part began.
    var sequence: UInt64
    /// Whether the group has any changes.
    var isBegun = false
    /// The part of the group that was committed.
    var committed = (parts: 0, isBegun: false)

    mutating func endPart(_ view: PlainContext.View, _ sequence: UInt64) {
      parts.append(PlainContext.Difference(start, end, pieces))
      pieces = []
      (start, end) = (view, view)
      self.sequence = sequence
    }
  }

  /// A context, its naive counterpart, and their undo stacks.
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
  /// The randomness of the current step, so that a step doesn't depend on other steps.
  private var random: SeededRandom
  private var log: [String] = []

  init(
    _ store: PersistentStore, contexts count: Int, isOrdered: Bool = false, isPaired: Bool = false,
    seed: UInt64
  ) {
    self.store.isOrdered = isOrdered
    self.store.isPaired = isPaired
    sides = (0..<count).map { _ in
      let context = store.makeContext()
      context.mergePolicy = .mergeByPropertyObjectWins
      context.undoHistory = UndoHistory()
      return Side(context: context)
    }
    self.seed = seed
    random = SeededRandom(seed: seed)
  }

  /// Runs the steps with the given indices.
  mutating func run(steps: some Sequence<Int>) throws {
    do {
      if store.isOrdered || store.isPaired { try populate() }
      for index in steps {
        random = SeededRandom(seed: seed &+ UInt64(index) &* 0xD6E8_FEB8_6659_FD93)
        let sideIndex = Int.random(in: sides.indices, using: &random)
        try step(sideIndex)
        try compare(sideIndex)
      }
      for sideIndex in sides.indices {
        try commit(sideIndex)
        try compare(sideIndex)
      }
    } catch let error as ArborError {
      throw difference(error.message)
    }
  }

  private mutating func step(_ sideIndex: Int) throws {
    sides[sideIndex].plain.sync(store)
    switch Int.random(in: 0..<27, using: &random) {
    case 24..<27: try sides[sideIndex].open == nil ? begin(sideIndex) : end(sideIndex)
    case 0..<15 where sides[sideIndex].open != nil: try editOpen(sideIndex)
    case 0..<14: try group(sideIndex, of: 1)
    case 14: try group(sideIndex, of: 3)
    case 15..<18: try commit(sideIndex)
    case 18: rollback(sideIndex)
    case 19..<22: try undo(sideIndex)
    default: try redo(sideIndex)
    }
  }

  private func note(_ sideIndex: Int, _ what: String) -> String { "\(sideIndex): \(what)" }

  // MARK: Changing

  private mutating func group(_ sideIndex: Int, of count: Int) throws {
    let context = sides[sideIndex].context
    if count > 1 { context.undoHistory?.beginGroup(named: "") }
    let before = sides[sideIndex].plain.view(store)
    var pieces: [Difference] = []
    for _ in 0..<count {
      guard let edit = try edit(sideIndex) else { continue }
      let before = sides[sideIndex].plain.view(store)
      edit.body(&sides[sideIndex].plain)
      pieces.append(piece(of: edit, before, sideIndex))
    }
    if count > 1 { context.undoHistory?.endGroup() } else { context.undoHistory?.closeGroup() }
    let group = [Difference(before, sides[sideIndex].plain.view(store), pieces)]
    if !group.hasNoEffect || count > 1 && !pieces.isEmpty { sides[sideIndex].redo = [] }
    close(group, sideIndex)
  }

  private mutating func piece(
    of edit: Edit, _ before: PlainContext.View, _ sideIndex: Int
  ) -> Difference {
    var piece = Difference(before, sides[sideIndex].plain.view(store))
    if let key = edit.written { piece.objects.insert(key) }
    piece.lists = sides[sideIndex].plain.takeTouched()
    piece.note(written: sides[sideIndex].plain.takeWritten())
    return piece
  }

  private mutating func close(_ group: Group, _ sideIndex: Int) {
    if group.hasNoEffect {
      sides[sideIndex].plain.settle(group, store)
    } else {
      sides[sideIndex].undo.append(group)
    }
  }

  // MARK: Open groups

  private mutating func begin(_ sideIndex: Int) throws {
    log.append(note(sideIndex, "begin a group"))
    _ = try sides[sideIndex].context.count("Team")
    sides[sideIndex].context.undoHistory?.beginGroup()
    let view = sides[sideIndex].plain.view(store)
    sides[sideIndex].open = OpenGroup(
      start: view, end: view, sequence: sides[sideIndex].context.session.sequence)
  }

  /// Makes a change in the open group.
  private mutating func editOpen(_ sideIndex: Int) throws {
    try endPart(sideIndex)
    let before = sides[sideIndex].plain.view(store)
    guard let edit = try edit(sideIndex) else { return }
    edit.body(&sides[sideIndex].plain)
    let (piece, view) = (piece(of: edit, before, sideIndex), sides[sideIndex].plain.view(store))
    sides[sideIndex].open?.pieces.append(piece)
    sides[sideIndex].open?.end = view
    sides[sideIndex].open?.isBegun = true
    sides[sideIndex].redo = []
  }

  /// Ends a part of the open group if there was a concurrent commit.
  private mutating func endPart(_ sideIndex: Int) throws {
    let context = sides[sideIndex].context
    _ = try context.count("Team")
    guard let open = sides[sideIndex].open, open.sequence != context.session.sequence else {
      return
    }
    let view = sides[sideIndex].plain.view(store)
    sides[sideIndex].open?.endPart(view, context.session.sequence)
  }

  private mutating func end(_ sideIndex: Int) throws {
    guard sides[sideIndex].open != nil else { return }
    log.append(note(sideIndex, "end the group"))
    try endPart(sideIndex)
    sides[sideIndex].context.undoHistory?.endGroup()
    closeOpen(sideIndex)
  }

  /// Records the end of the open group.
  private mutating func closeOpen(_ sideIndex: Int) {
    guard var open = sides[sideIndex].open else { return }
    sides[sideIndex].open = nil
    open.endPart(open.end, open.sequence)
    close(open.parts, sideIndex)
  }

  /// An edit that was made in the real context, to be repeated in the naive one.
  private struct Edit {
    /// The object whose property was set.
    var written: Int?
    let body: (inout PlainContext) -> Void
  }

  private mutating func edit(_ sideIndex: Int) throws -> Edit? {
    let (context, store) = (sides[sideIndex].context, store)
    let items = sides[sideIndex].plain.items(store)
    func key(_ entity: String, _ random: inout SeededRandom) -> Int? {
      items.keys.filter { items[$0]?.entity == entity }.sorted().randomElement(using: &random)
    }
    if store.isPaired, Int.random(in: 0..<3, using: &random) > 0 { return try pair(sideIndex) }
    switch Int.random(in: 0..<(store.isOrdered ? 24 : 16), using: &random) {
    case 16...: return try arrange(sideIndex)
    case 0..<3 where items.count < (store.isOrdered || store.isPaired ? 7 : 14):
      return try insert(sideIndex)
    case 0..<5:
      guard let key = items.keys.sorted().randomElement(using: &random) else { return nil }
      log.append(note(sideIndex, "delete \(key)"))
      try context.delete(object(key, context))
      return Edit { $0.delete(key, store) }
    case 5..<10:
      guard let key = items.keys.sorted().randomElement(using: &random) else { return nil }
      let name = PlainStore.attributes.randomElement(using: &random) ?? "a"
      let value = Bool.random(using: &random) ? nil : Int.random(in: 0..<9, using: &random)
      log.append(note(sideIndex, "\(key).\(name) = \(value.map(String.init) ?? "nil")"))
      try object(key, context).setValue(
        value.map { .integer(Int64($0)) } ?? PropertyValue.null, forKey: name)
      return Edit(written: key) { $0.set(key, name, value, store) }
    case 10..<13:
      guard let person = key("Person", &random) else { return nil }
      let team = Bool.random(using: &random) ? nil : key("Team", &random)
      guard items[person]?.values["team"] != team else { return nil }
      log.append(note(sideIndex, "\(person).team = \(team.map(String.init) ?? "nil")"))
      try object(person, context).setObject(team.map { try object($0, context) }, forKey: "team")
      return Edit { $0.set(person, "team", team, store) }
    default:
      guard let person = key("Person", &random), let skill = key("Skill", &random) else {
        return nil
      }
      let link = PlainStore.Link(person: person, skill: skill)
      let isThere = !sides[sideIndex].plain.links(store).contains(link)
      log.append(note(sideIndex, "\(person).skills \(isThere ? "+" : "-")= \(skill)"))
      let (owner, member) = try (object(person, context), object(skill, context))
      if isThere {
        try owner.objects(forKey: "skills").insert(member)
      } else {
        try owner.objects(forKey: "skills").remove(member)
      }
      return Edit { $0.setLink(link, isThere, store) }
    }
  }

  /// Sets or removes the partner of an object, from either end.
  private mutating func pair(_ sideIndex: Int) throws -> Edit? {
    let (context, store) = (sides[sideIndex].context, store)
    let items = sides[sideIndex].plain.items(store)
    let ends = items.filter { PlainPairs.name(of: $0.value.entity) != nil }
    guard let key = ends.keys.sorted().randomElement(using: &random), let item = items[key],
      let name = PlainPairs.name(of: item.entity)
    else { return nil }
    let others = ends.filter { $0.value.entity != item.entity }.keys.sorted()
    let isNone = Int.random(in: 0..<4, using: &random) == 0
    let target = isNone ? nil : others.randomElement(using: &random)
    // A reference to a deleted object isn't visible.
    guard item.values[name] != target, item.values[name].map({ items[$0] != nil }) ?? true else {
      return nil
    }
    log.append(note(sideIndex, "\(key).\(name) = \(target.map(String.init) ?? "nil")"))
    try object(key, context).setObject(target.map { try object($0, context) }, forKey: name)
    return Edit { $0.pair(key, with: target, store) }
  }

  /// Reorders the members of a list, and may insert new ones between them.
  private mutating func arrange(_ sideIndex: Int) throws -> Edit? {
    let (context, store) = (sides[sideIndex].context, store)
    let plain = sides[sideIndex].plain
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
    log.append(note(sideIndex, "\(list.owner).\(list.name) = \(members)"))
    try object(list.owner, context).objects(forKey: list.name).replaceAll(
      with: members.map { try object($0, context) })
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

  /// Starts with some objects, so that the contexts change the same few lists.
  private mutating func populate() throws {
    let history = sides[0].context.undoHistory
    history?.isEnabled = false
    let last = store.isPaired ? "Team" : "Skill"
    for entity in ["Team", "Skill", "Person", "Person", "Person", "Person", last] {
      try insert(0, entity).body(&sides[0].plain)
    }
    history?.isEnabled = true
    try commit(0)
  }

  private mutating func insert(_ sideIndex: Int, _ kind: String? = nil) throws -> Edit {
    let entity = kind ?? ["Person", "Person", "Team", "Skill"].randomElement(using: &random) ?? ""
    let key = nextKey
    nextKey += 1
    log.append(note(sideIndex, "\(key) = insert \(entity)"))
    ids[key] = try sides[sideIndex].context.insert(entity).objectID
    return Edit { $0.insert(key, entity) }
  }

  func object(_ key: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    guard let id = ids[key] else { throw difference("no ID of \(key)") }
    return try context.object(with: id)
  }

  private mutating func commit(_ sideIndex: Int) throws {
    log.append(note(sideIndex, "commit"))
    if sides[sideIndex].open != nil { try endPart(sideIndex) }
    try sides[sideIndex].context.commit()
    sides[sideIndex].plain.sync(store)
    sides[sideIndex].plain.commit(to: &store)
    sides[sideIndex].committedUndo = sides[sideIndex].undo
    guard var open = sides[sideIndex].open else { return }
    open.endPart(sides[sideIndex].plain.view(store), sides[sideIndex].context.session.sequence)
    open.committed = (open.parts.count, open.isBegun)
    sides[sideIndex].open = open
  }

  private mutating func rollback(_ sideIndex: Int) {
    log.append(note(sideIndex, "rollback"))
    sides[sideIndex].context.rollback()
    sides[sideIndex].plain.rollback()
    sides[sideIndex].undo = sides[sideIndex].committedUndo
    sides[sideIndex].redo = []
    guard var open = sides[sideIndex].open else { return }
    open.endPart(sides[sideIndex].plain.view(store), sides[sideIndex].context.session.sequence)
    open.parts.removeLast(open.parts.count - open.committed.parts)
    open.isBegun = open.committed.isBegun
    sides[sideIndex].open = open
  }

  private mutating func undo(_ sideIndex: Int) throws {
    log.append(note(sideIndex, "undo"))
    if sides[sideIndex].open != nil { try endPart(sideIndex) }
    sides[sideIndex].context.undo()
    closeOpen(sideIndex)
    guard let group = sides[sideIndex].undo.popLast() else { return }
    sides[sideIndex].redo.append(replay(group, sideIndex))
  }

  private mutating func redo(_ sideIndex: Int) throws {
    log.append(note(sideIndex, "redo"))
    if sides[sideIndex].open != nil { try endPart(sideIndex) }
    sides[sideIndex].context.redo()
    closeOpen(sideIndex)
    guard let group = sides[sideIndex].redo.popLast() else { return }
    sides[sideIndex].undo.append(replay(group, sideIndex))
  }

  /// Reverts a group and returns the group that reverts this.
  private mutating func replay(_ group: Group, _ sideIndex: Int) -> Group {
    let before = sides[sideIndex].plain.view(store)
    _ = (sides[sideIndex].plain.takeTouched(), sides[sideIndex].plain.takeWritten())
    sides[sideIndex].plain.undo(group, store)
    var result = [Difference(before, sides[sideIndex].plain.view(store))]
    result[0].lists = sides[sideIndex].plain.takeTouched()
    result[0].note(written: sides[sideIndex].plain.takeWritten())
    sides[sideIndex].plain.settle(group, store)
    sides[sideIndex].plain.settle(result, store)
    return result
  }

  func difference(_ what: String) -> Mismatch {
    Mismatch(
      description: "\(what)\n\(log.joined(separator: "\n"))\n\(store)\n"
        + sides.map { "\($0.plain)" }.joined(separator: "\n"))
  }
}
