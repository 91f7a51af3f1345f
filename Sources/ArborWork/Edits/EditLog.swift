package import ArborModel

/// Edits in the order in which they were made: those of a context since its last undo group or
/// savepoint, or those of a closed undo group.
///
/// Records are never copied for a savepoint: a working record that it finds is left as it is, and
/// the next change to it goes into a new one.
package final class EditLog {
  package internal(set) var edits: ContiguousArray<Edit> = []
  /// How many edits know what they changed.
  package internal(set) var sealedCount = 0

  package init(_ edits: ContiguousArray<Edit> = [], sealed sealedCount: Int = 0) {
    self.edits = edits
    self.sealedCount = sealedCount
  }

  package var count: Int { edits.count }
  package var isSealed: Bool { sealedCount == edits.count }

  package func append(_ edit: Edit) { edits.append(edit) }

  /// Adds the edits of a slice that were made after these.
  package func append(_ log: EditLog) { edits += log.edits }

  package func removeLast() -> Edit {
    defer { sealedCount = min(sealedCount, edits.count) }
    return edits.removeLast()
  }

  /// Forgets the edits behind a position.
  package func truncate(to count: Int) {
    guard count < edits.count else { return }
    edits.removeLast(edits.count - count)
    sealedCount = min(sealedCount, count)
  }

  /// Takes the edits behind a position out, without those that undo does not take back.
  package func take(from start: Int) -> EditLog {
    guard start < edits.count else { return EditLog() }
    let isSealed = isSealed
    let slice: ContiguousArray<Edit>
    if start == 0 {
      slice = edits
      edits = []
      sealedCount = 0
    } else {
      slice = ContiguousArray(edits[start...])
      truncate(to: start)
    }
    let undoable = slice.allSatisfy(\.isUndoable) ? slice : slice.filter(\.isUndoable)
    return EditLog(undoable, sealed: isSealed ? undoable.count : 0)
  }

  /// Lets go of what only a savepoint needed, which began at a position and has ended.
  package func endSavepoint(from start: Int, _ allocator: SlabAllocator) {
    for index in start..<max(start, edits.count) {
      guard edits[index].isUndoable else {
        edits[index] = .none
        continue
      }
      if case .object(var edit) = edits[index] {
        edit.settle(allocator)
        edits[index] = .object(edit)
      }
    }
    while edits.count > start, case .none = edits[edits.count - 1] { edits.removeLast() }
    sealedCount = min(sealedCount, edits.count)
  }

  /// Whether there is anything to take back behind a position. Known of sealed edits.
  package func hasEffect(from start: Int = 0) -> Bool {
    start < edits.count && edits[start...].contains { $0.hasEffect }
  }
}
