import ArborModel
import Foundation
import TestSupport

@testable import ArborObjects

/// A random history of notes that are typed into, compared with an array of earlier states.
struct TypingHistory {
  typealias World = [Int: TypedNote.State]

  let store: PersistentStore
  let context: ManagedObjectContext
  let history: UndoHistory
  var random: SeededRandom
  /// Whether one change is hidden from the history, which the comparison must find.
  let isLossy: Bool
  var ids: [Int: ObjectID] = [:]
  var world: World = [:]
  var committed: World = [:]
  var undoWorlds: [World] = []
  var redoWorlds: [World] = []
  var committedUndoWorlds: [World] = []
  /// The number of `committedUndoWorlds` that have not been undone since the commit.
  private var keptCount = 0
  var log: [String] = []
  /// Whether a group contains nested groups with changes, which it keeps although they may cancel
  /// each other out.
  private var hasNestedChanges = false
  private var photoNumber: UInt8 = 0

  init(_ store: PersistentStore, seed: UInt64, isLossy: Bool = false) {
    self.store = store
    self.isLossy = isLossy
    random = SeededRandom(seed: seed)
    context = store.makeContext()
    history = UndoHistory(levelLimit: Int.random(in: 0..<3, using: &random) == 0 ? 7 : 0)
    context.undoHistory = history
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<2 { try asGroup { try $0.insert() } }
    for step in 0..<steps {
      try self.step()
      try compare()
      if isLossy, step == steps / 2 { try hideChange() }
    }
    while history.canUndo { undo() }
    try compare()
    while history.canRedo { redo() }
    try compare()
    try commit()
    while history.canUndo {
      undo()
      try compare()
    }
    try commit()
    while history.canRedo { redo() }
    try compare()
    try commit()
    let other = store.makeContext()
    for (key, state) in world {
      guard try (other.object(with: id(key)) as? TypedNote)?.contents == state else {
        throw difference("note \(key) was committed with other values")
      }
    }
    history.removeAll()
    guard history.heldBytes == 0 else {
      throw difference("an empty history holds \(history.heldBytes) bytes")
    }
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<11: try asGroup { try $0.edit() }
    case 11: try nest()
    case 12: try interrupt()
    case 13: try commit()
    case 14 where Int.random(in: 0..<3, using: &random) == 0: try rollback()
    case 14..<18: for _ in 0..<Int.random(in: 1...4, using: &random) { undo() }
    default: for _ in 0..<Int.random(in: 1...3, using: &random) { redo() }
    }
  }

  // MARK: Changes

  private func id(_ key: Int) throws -> ObjectID {
    guard let id = ids[key] else { throw difference("note \(key) has no ID") }
    return id
  }

  private func note(_ key: Int) throws -> TypedNote {
    guard let note = try context.object(with: id(key)) as? TypedNote else {
      throw difference("note \(key) is missing")
    }
    return note
  }

  private mutating func insert() throws {
    let key = ids.count
    log.append("insert \(key)")
    ids[key] = context.insert(TypedNote.self).objectID
    world[key] = TypedNote.State()
  }

  private mutating func edit() throws {
    let choice = Int.random(in: 0..<30, using: &random)
    guard choice > 1, let key = world.keys.sorted().randomElement(using: &random) else {
      if world.count < 5 { try insert() }
      return
    }
    let note = try note(key)
    if choice == 2, world.count > 1 {
      log.append("delete \(key)")
      context.delete(note)
      world[key] = nil
      return
    }
    var state = world[key] ?? TypedNote.State()
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: state.length += 1
      case 1:
        // 20 KB are stored outside of the record. No photo comes back, because a photo in the record
        // differs from the same one outside of it.
        photoNumber &+= 1
        let count = [0, 300, 20_000, 20_001][Int.random(in: 0..<4, using: &random)]
        state.photo =
          count == 0 ? nil : Data(repeating: photoNumber, count: count)
      case 2: state.title = typed(state.title)
      default:
        state.body = Int.random(in: 0..<25, using: &random) == 0 ? nil : typed(state.body ?? "")
      }
      note.contents = state
    }
    log.append("edit \(key): \(state.size) bytes")
    world[key] = state
  }

  private mutating func typed(_ text: String) -> String {
    let characters = Array(text)
    let place = Int.random(in: 0...characters.count, using: &random)
    let letter = ["a", "b", "ä", "中"][Int.random(in: 0..<4, using: &random)]
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return String(repeating: letter, count: [0, 10, 3000][place % 3])
    case 1: return String(characters.prefix(place))
    case 2: return String(characters.dropFirst(place))
    case 3 where characters.count < 5000: return text + text + letter
    case 4:
      return String(characters.prefix(place)) + letter + String(characters.dropFirst(place + 1))
    case 5: return String(characters.prefix(place)) + letter + String(characters.dropFirst(place))
    default: return text + letter
    }
  }

  /// Changes a value without recording it, although the oracle expects it to be undone.
  private mutating func hideChange() throws {
    try asGroup { history in
      guard let key = history.world.keys.min() else { return try history.insert() }
      let note = try history.note(key)
      history.history.withoutRegistration { note.length += 1000 }
      note.title += "x"
      history.world[key] = note.contents
    }
    undo()
    try compare()
  }

  // MARK: Groups

  private mutating func asGroup(_ body: (inout TypingHistory) throws -> Void) throws {
    let before = world
    hasNestedChanges = false
    try body(&self)
    history.closeGroup()
    guard world != before || hasNestedChanges else { return }
    undoWorlds.append(before)
    redoWorlds = []
    trim()
  }

  /// Accounts for groups that exceed the limit.
  private mutating func trim() {
    guard history.levelLimit > 0 else { return }
    let excess = max(0, undoWorlds.count - history.levelLimit)
    undoWorlds.removeFirst(excess)
    let kept = min(excess, keptCount)
    committedUndoWorlds.removeFirst(kept)
    keptCount -= kept
  }

  private mutating func nest() throws {
    log.append("group {")
    let redo = redoWorlds
    var isUndone = false
    var after = world
    try asGroup { typing in
      typing.history.beginGroup()
      var before = typing.world
      try typing.edit()
      var hasChanges = typing.world != before
      for _ in 0..<3 {
        before = typing.world
        typing.history.group { _ = Result { try typing.edit() } }
        after = typing.world
        guard before != after else { continue }
        guard Bool.random(using: &typing.random) else {
          hasChanges = true
          continue
        }
        typing.history.undoGroup()
        typing.world = before
        isUndone = true
        try typing.compareNotes()
        if Bool.random(using: &typing.random) {
          typing.history.redoGroup()
          typing.world = after
          isUndone = false
          hasChanges = true
          try typing.compareNotes()
        }
      }
      typing.history.endGroup()
      typing.hasNestedChanges = hasChanges
    }
    log.append("}")
    if history.canRedo { redoWorlds = isUndone ? [after] : redo } else { redoWorlds = [] }
    // The redo of a nested group isn't one of the states before a group.
    history.closeGroup()
    if isUndone {
      // Continue without it.
      let number = context.insert(TypedNote.self)
      history.closeGroup()
      undoWorlds.append(world)
      redoWorlds = []
      let key = ids.count
      ids[key] = number.objectID
      world[key] = TypedNote.State()
      trim()
    }
  }

  private mutating func interrupt() throws {
    let (before, idsBefore) = (world, ids)
    log.append("savepoint")
    try? context.withSavepoint {
      for _ in 0..<3 { try edit() }
      throw Interruption()
    }
    (world, ids) = (before, idsBefore)
    history.closeGroup()
  }

  private mutating func commit() throws {
    log.append("commit")
    try context.commit()
    committed = world
    committedUndoWorlds = undoWorlds
    keptCount = undoWorlds.count
  }

  private mutating func rollback() throws {
    log.append("rollback")
    context.rollback()
    guard !context.hasChanges else { throw difference("changes are left") }
    world = committed
    undoWorlds = committedUndoWorlds
    keptCount = undoWorlds.count
    redoWorlds = []
  }

  private mutating func undo() {
    log.append("undo")
    history.undo()
    guard let before = undoWorlds.popLast() else { return }
    keptCount = min(keptCount, undoWorlds.count)
    redoWorlds.append(world)
    world = before
  }

  private mutating func redo() {
    log.append("redo")
    history.redo()
    guard let after = redoWorlds.popLast() else { return }
    undoWorlds.append(world)
    world = after
    trim()
  }

  // MARK: Comparing

  private func compare() throws {
    try compareNotes()
    guard history.undoNames.count == undoWorlds.count, history.redoNames.count == redoWorlds.count
    else {
      throw difference(
        "\(history.undoNames.count) groups can be undone and \(history.redoNames.count) redone, "
          + "not \(undoWorlds.count) and \(redoWorlds.count)")
    }
    let worlds = undoWorlds + redoWorlds + committedUndoWorlds
    let size = worlds.reduce(0) { $1.values.reduce($0) { $0 + $1.size } }
    // Groups of short notes cost more than their values, and those with nested groups hold states
    // within them.
    guard history.heldBytes <= 2 * size + 100_000 + 4000 * worlds.count else {
      throw difference("\(worlds.count) states of \(size) bytes take \(history.heldBytes)")
    }
  }

  private func compareNotes() throws {
    for (key, state) in world {
      let found = try note(key).contents
      guard found == state else {
        throw difference("note \(key) is \(describe(found)), not \(describe(state))")
      }
    }
    guard try context.count(TypedNote.self) == world.count else {
      throw difference("the number of notes isn't \(world.count)")
    }
  }

  private func describe(_ state: TypedNote.State) -> String {
    "\(state.title.count) \(state.body?.count ?? -1) \(state.photo?.count ?? -1) \(state.length)"
  }

  private func difference(_ what: String) -> Mismatch {
    Mismatch(description: what + "\n" + log.joined(separator: "\n"))
  }
}
