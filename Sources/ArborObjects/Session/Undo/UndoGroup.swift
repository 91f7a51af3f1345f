internal import ArborModel

/// Edits that are undone together, in the order in which they were made.
///
/// An edit contains only the former state of the parts it changed, so reverting it doesn't affect
/// changes of concurrent commits to other parts.
struct UndoGroup {
  let name: String
  let log: EditLog
}

/// Groups of which the last one is reverted first.
///
/// A group takes the memory of the records before its edits, and less for a long record that an edit
/// of a later group changed in part; see ``FormerRecord``.
struct UndoStack {
  private var groups: [(group: UndoGroup, bytes: Int)] = []
  private var chain = RecordChain()
  private let memory: HistoryMemory
  /// The number of bytes that the groups hold, apart from long records.
  private(set) var bytes = 0

  init(_ memory: HistoryMemory) { self.memory = memory }

  var count: Int { groups.count }
  var isEmpty: Bool { groups.isEmpty }
  var names: [String] { groups.map(\.group.name) }
  var logs: [EditLog] { groups.map(\.group.log) }

  mutating func append(_ group: UndoGroup) {
    pack(group.log)
    let size = group.log.heldBytes
    groups.append((group, size))
    bytes += size
  }

  mutating func popLast() -> UndoGroup? {
    guard let (group, size) = groups.popLast() else { return nil }
    bytes -= size
    unpack(group.log)
    return group
  }

  mutating func removeLast(_ count: Int) { for _ in 0..<max(0, count) { _ = popLast() } }

  mutating func removeFirst(_ count: Int) {
    bytes -= groups[..<count].reduce(0) { $0 + $1.bytes }
    groups.removeFirst(count)
  }

  mutating func removeAll() { self = UndoStack(memory) }

  /// Appends edits to the last group.
  mutating func extendLast(by log: EditLog, sealedIn session: Session) {
    guard let group = popLast() else { return }
    group.log.append(log)
    group.log.seal(in: session)
    append(group)
  }

  /// Returns how many of the first groups hold at least a number of bytes together. The last one
  /// isn't counted.
  func countOfFirst(holding excess: Int) -> Int {
    var (count, released) = (0, 0)
    while released < excess, count + 1 < groups.count {
      released += groups[count].bytes + groups[count].group.log.longRecordBytes
      count += 1
    }
    return count
  }

  /// Holds the long records of edits after a position in a compact form. The edits may still be in
  /// the log of an open group.
  mutating func pack(_ log: EditLog, from start: Int = 0) {
    log.changeObjectEdits(from: start) { $0.pack(into: &chain, memory) }
  }

  /// Prepares edits that are about to be reverted or discarded.
  mutating func unpack(_ log: EditLog, from start: Int = 0) {
    for index in log.edits.indices.dropFirst(start).reversed() {
      guard let (record, number) = log.edits[index].longRecord else { continue }
      chain.remove(record, of: number)
    }
  }
}
