import ArborModel
import ArborObjects
import TestSupport

/// Undo and redo of groups, compared with a list of earlier graphs.
extension RandomHistory {
  /// Performs the changes of `body` as one group.
  mutating func asGroup(_ body: (inout RandomHistory) throws -> Void) throws {
    let before = world
    try body(&self)
    context.undoHistory?.closeGroup()
    guard let names = context.undoHistory?.undoNames, names.count > undoWorlds.count else { return }
    undoWorlds.append(before)
    redoWorlds = []
  }

  /// Performs an explicit group, in which a nested group may be undone and redone.
  mutating func group() throws {
    log.append("group {")
    var isUndone = false
    var after = world
    try asGroup { history throws in
      history.context.undoHistory?.beginGroup(named: "group")
      try history.edit()
      let before = history.world
      history.context.undoHistory?.beginGroup()
      try history.edit()
      try history.edit()
      history.context.undoHistory?.endGroup()
      after = history.world
      if Bool.random(using: &history.random), history.isRecorded(since: before) {
        history.log.append("undo group")
        isUndone = true
        history.context.undoHistory?.undoGroup()
        history.world = before
        try history.compare(history.context)
        if Bool.random(using: &history.random) {
          history.log.append("redo group")
          isUndone = false
          history.context.undoHistory?.redoGroup()
          history.world = after
          try history.compare(history.context)
        }
      }
      history.context.undoHistory?.endGroup()
    }
    log.append("}")
    redoWorlds = isUndone ? [after] : context.undoHistory?.canRedo == true ? redoWorlds : []
  }

  /// Whether the nested group has changes. Otherwise, the outer group's part would be undone.
  private func isRecorded(since before: PlainWorld) -> Bool { world.settled != before.settled }

  mutating func undo() {
    log.append("undo")
    context.undo()
    guard let before = undoWorlds.popLast() else { return }
    redoWorlds.append(world)
    world = before
  }

  mutating func redo() {
    guard let after = redoWorlds.popLast() else { return }
    log.append("redo")
    context.redo()
    undoWorlds.append(world)
    world = after
  }

  func compareGroups() throws {
    guard let history = context.undoHistory, history.undoNames.count == undoWorlds.count,
      history.redoNames.count == redoWorlds.count
    else { throw difference("other groups can be undone or redone") }
  }

  mutating func forgetGroups() {
    undoWorlds = []
    redoWorlds = []
    committedUndoWorlds = []
  }

  mutating func undoAndRedoEverything() throws {
    for _ in 0..<10 { try asGroup { history throws in try history.edit() } }
    while undoWorlds.count > committedUndoWorlds.count { undo() }
    try compare(context)
    if context.hasChanges {
      let updated = context.updatedObjects.map { "\($0.objectID): \($0.changedValues())" }
      throw difference(
        "\(context.insertedObjects.count) + \(updated) + \(context.deletedObjects.count) changes "
          + "are left after all were undone")
    }
    while !redoWorlds.isEmpty { redo() }
    for _ in 0..<2 {
      try compare(context)
      try commit()
      try compare(store.makeContext())
      while !undoWorlds.isEmpty { undo() }
      try compare(context)
      try commit()
      try compare(store.makeContext())
      while !redoWorlds.isEmpty { redo() }
    }
    try compare(context)
  }
}
