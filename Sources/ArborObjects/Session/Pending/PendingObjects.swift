internal import ArborModel
internal import ArborStore

/// The changes of a context's objects that wait for a commit, by number and by entity.
///
/// Changes of one entity keep their order. A change that is taken back stays in its list, marked as
/// dropped, until enough of them have gathered.
final class PendingObjects {
  /// The change of each number, as an unretained reference: the lists keep the changes.
  let map = NumberMap()
  /// By the indexes of the entities in the schema; empty before the first change.
  private var lists: [ContiguousArray<PendingObject>] = []
  private let entityCount: Int
  private var droppedCount = 0
  /// Finds objects by their values; nil before the first such look-up.
  private var keys: PendingKeys?

  /// Room for so many is kept from commit to commit.
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

  /// Records that the record of a change has been, or is about to be, replaced or written.
  @inline(__always)
  func noteRewritten(_ change: PendingObject) {
    keys?.note(change.object.number, of: change.object.binding.entity)
  }

  /// Takes a change back; its object is left as it is.
  func drop(_ change: PendingObject) {
    change.kind = .dropped
    change.object.change = nil
    map.remove(change.object.number)
    droppedCount += 1
    guard droppedCount > 64, droppedCount > map.count else { return }
    for index in lists.indices { lists[index].removeAll { $0.kind == .dropped } }
    droppedCount = 0
  }

  /// Forgets all changes; the objects are left as they are.
  func removeAll() {
    for index in lists.indices where !lists[index].isEmpty {
      lists[index].removeAll(keepingCapacity: lists[index].capacity <= Self.fewChanges)
    }
    map.removeAll()
    droppedCount = 0
    keys = nil
  }

  /// Calls `body` with every change, entity by entity. Changes that are added meanwhile are seen
  /// where their entity has not been passed.
  func forEach<E: Error>(_ body: (PendingObject) throws(E) -> Void) throws(E) {
    guard map.count > 0 else { return }
    for index in lists.indices {
      // By position, since hooks may add changes.
      var position = 0
      while position < lists[index].count {
        let change = lists[index][position]
        position += 1
        if change.kind != .dropped { try body(change) }
      }
    }
  }

  /// Whether objects of one concrete entity have changes, by its index in the schema.
  func hasChanges(ofEntity index: Int) -> Bool {
    map.count > 0 && lists[index].contains { $0.kind != .dropped }
  }

  /// How many deletions there are. Linear.
  var deletedCount: Int {
    var count = 0
    forEach { if $0.kind == .deleted { count += 1 } }
    return count
  }

  /// All changes, for loops that drop some.
  var all: [PendingObject] { compactMap { $0 } }

  /// Returns the results of `transform` for the changes, without nil.
  func compactMap<R>(_ transform: (PendingObject) -> R?) -> [R] {
    var results: [R] = []
    forEach { if let result = transform($0) { results.append(result) } }
    return results
  }

  /// The objects whose change fulfils a condition.
  func objects(where condition: (PendingObject) -> Bool) -> [ManagedObject] {
    compactMap { condition($0) ? $0.object : nil }
  }

  /// The inserted and updated objects of one concrete entity, with their records.
  ///
  /// - Parameter selection: Which of them are wanted; others may be among them.
  func rows(
    of entity: EntitySchema, _ selection: PendingSelection? = nil
  ) -> [(ObjectNumber, RecordView)] {
    guard map.count > 0 else { return [] }
    if let selection, let rows = selectedRows(of: entity, selection) { return rows }
    return lists[entity.index].compactMap(\.row)
  }

  /// Looks them up; nil where going through all is as good.
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
        // Before the next write the look-up tables are told.
        change.noteRead()
        return row.1
      })
    return numbers?.compactMap { change(of: $0)?.row }
  }

  /// The record of an inserted, updated or deleted object; nil for others.
  func record(of number: ObjectNumber) -> RecordView? {
    change(of: number)?.object.currentRecord
  }
}

extension PendingObject {
  /// An inserted or updated object, with its record; nil for others.
  fileprivate var row: (ObjectNumber, RecordView)? {
    guard kind == .inserted || kind == .updated else { return nil }
    return (object.number, object.currentRecord)
  }
}
