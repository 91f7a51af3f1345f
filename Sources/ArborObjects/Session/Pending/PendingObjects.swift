internal import ArborModel
internal import ArborStore

/// The pending changes of a context's objects, by number and by entity.
///
/// Changes of one entity keep their order. A reverted change remains in its list, marked as
/// dropped, until there are enough of them to clean up.
final class PendingObjects {
  /// The change of each number, as an unretained reference. The lists own the changes.
  let map = NumberMap()
  /// The changes, by entity index in the schema. Empty before the first change.
  private var lists: [ContiguousArray<PendingObject>] = []
  private let entityCount: Int
  private var droppedCount = 0
  /// The number of loops over the lists that are running. Until they end, no list is cleaned up.
  private var loopCount = 0
  /// The index that finds objects by value, or `nil` before the first such lookup.
  private var keys: PendingKeys?

  /// The maximum capacity that a list keeps from commit to commit.
  static let fewChanges = 64

  init(entityCount: Int) {
    self.entityCount = entityCount
  }

  @inline(__always)
  var count: Int { map.count }

  @inline(__always)
  func change(of number: ObjectNumber) -> PendingObject? {
    guard map.count > 0, let word = map[number], let pointer = UnsafeRawPointer(bitPattern: word)
    else { return nil }
    return Unmanaged<PendingObject>.fromOpaque(pointer).takeUnretainedValue()
  }

  func add(_ change: PendingObject) {
    if lists.isEmpty { lists = Array(repeating: [], count: entityCount) }
    let object = change.object
    object.change = change
    lists[object.binding.entity.index].append(change)
    map.set(object.number, UInt(bitPattern: Unmanaged.passUnretained(change).toOpaque()))
    noteRewritten(change)
  }

  /// Records that the record of a change has been or is about to be replaced or written.
  @inline(__always)
  func noteRewritten(_ change: PendingObject) {
    keys?.note(change.object.number, of: change.object.binding.entity)
  }

  /// Drops a change. Its object is left unchanged.
  func drop(_ change: PendingObject) {
    change.kind = .dropped
    change.object.change = nil
    map.remove(change.object.number)
    droppedCount += 1
    guard droppedCount > 64, droppedCount > map.count, loopCount == 0 else { return }
    for index in lists.indices { lists[index].removeAll { $0.kind == .dropped } }
    droppedCount = 0
  }

  /// Removes all changes. The objects are left unchanged.
  func removeAll() {
    for index in lists.indices where !lists[index].isEmpty {
      lists[index].removeAll(keepingCapacity: lists[index].capacity <= Self.fewChanges)
    }
    map.removeAll()
    droppedCount = 0
    keys = nil
  }

  /// Calls `body` with every change, entity by entity.
  ///
  /// - Parameter includesAdditions: Whether changes that `body` adds are included, if their entity
  ///   hasn't been passed.
  func forEach<E: Error>(
    includesAdditions: Bool = true, _ body: (PendingObject) throws(E) -> Void
  ) throws(E) {
    guard map.count > 0 else { return }
    loopCount += 1
    defer { loopCount -= 1 }
    let ends = includesAdditions ? nil : lists.map { $0.count }
    for index in lists.indices {
      // By position, because hooks may add changes, or remove all of them.
      var position = 0
      while position < min(lists[index].count, ends?[index] ?? .max) {
        let change = lists[index][position]
        position += 1
        if change.kind != .dropped { try body(change) }
      }
    }
  }

  /// Returns whether any change satisfies a condition.
  func contains(where condition: (PendingObject) -> Bool) -> Bool {
    map.count > 0
      && lists.contains { $0.contains { $0.kind != .dropped && condition($0) } }
  }

  /// Returns whether any objects of the concrete entity with the given index in the schema have
  /// changes.
  func hasChanges(ofEntity index: Int) -> Bool {
    map.count > 0 && lists[index].contains { $0.kind != .dropped }
  }

  /// Returns whether any objects of the concrete entity with the given index in the schema are
  /// deleted.
  func hasDeletions(ofEntity index: Int) -> Bool {
    map.count > 0 && lists[index].contains { $0.kind == .deleted }
  }

  /// The number of deletions. Takes linear time.
  var deletedCount: Int {
    var count = 0
    forEach { if $0.kind == .deleted { count += 1 } }
    return count
  }

  /// All changes, for loops that drop some of them.
  var all: [PendingObject] { compactMap { $0 } }

  /// Returns the non-`nil` results of `transform` for all changes.
  func compactMap<R>(_ transform: (PendingObject) -> R?) -> [R] {
    var results: [R] = []
    forEach { if let result = transform($0) { results.append(result) } }
    return results
  }

  /// Returns the objects whose change satisfies a condition.
  func objects(where condition: (PendingObject) -> Bool) -> [ManagedObject] {
    compactMap { condition($0) ? $0.object : nil }
  }

  /// Returns the inserted and updated objects of one concrete entity, with their records.
  ///
  /// - Parameter selection: The objects to return. Others may be included.
  func rows(
    of entity: EntitySchema, _ selection: PendingSelection? = nil
  ) -> [(ObjectNumber, RecordView)] {
    guard map.count > 0 else { return [] }
    if let selection, let rows = selectedRows(of: entity, selection) { return rows }
    return lists[entity.index].compactMap(\.row)
  }

  /// Looks up the selected rows. Returns `nil` if a scan is at least as fast.
  private func selectedRows(
    of entity: EntitySchema, _ selection: PendingSelection
  ) -> [(ObjectNumber, RecordView)]? {
    guard lists[entity.index].count >= PendingSelection.leastRows else { return nil }
    let keys = keys ?? PendingKeys(entityCount: entityCount)
    self.keys = keys
    let changes = lists[entity.index]
    let numbers = keys.numbers(
      of: selection, of: entity, among: changes.count, { changes.map(\.object.number) },
      { number in
        guard let change = change(of: number), let row = change.row else { return nil }
        // The next write must notify the lookup tables.
        change.noteRead()
        return row.1
      })
    return numbers?.compactMap { change(of: $0)?.row }
  }

  /// Returns the record of an inserted, updated or deleted object, or `nil` for others.
  func record(of number: ObjectNumber) -> RecordView? {
    change(of: number)?.object.currentRecord
  }
}

extension PendingObject {
  /// The number and record of an inserted or updated object, or `nil` for others.
  fileprivate var row: (ObjectNumber, RecordView)? {
    guard kind == .inserted || kind == .updated else { return nil }
    return (object.number, object.currentRecord)
  }
}
