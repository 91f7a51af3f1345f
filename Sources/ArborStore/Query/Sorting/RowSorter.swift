internal import ArborModel

/// An order of rows that is defined by sort keys.
protocol RowOrder: AnyObject {
  /// The data of a row that is needed to compare it.
  associatedtype Key

  /// Returns whether a row certainly follows the row of a key. Cheap; `false` if in doubt.
  func isCertainlyAfter(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool

  /// Returns whether a row certainly precedes the row of a key. Cheap; `false` if in doubt.
  func isCertainlyBefore(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool

  /// Returns the key for sort values as ``SortColumns`` returns them, or `nil` if no row can have
  /// such values.
  func key(of values: [PropertyValue]) -> Key?

  /// Returns the key of a row.
  func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) throws -> Key

  /// Discards the most recently created key.
  func dropLastKey()

  /// Discards all keys.
  func dropKeys()

  /// Returns a number that is consistent with the order of the keys. Different keys may have the
  /// same prefix.
  func prefix(of key: Key) -> UInt64

  /// Returns the order of two rows by their keys.
  func compare(_ left: Key, _ right: Key) -> Ordering
}

/// Sorts rows, or keeps only the first ones in a bounded binary heap (top-N). Rows are compared by
/// small keys and copied only once they are certain to be in the result.
struct RowSorter<Order: RowOrder> {
  private struct Entry {
    var key: Order.Key
    let row: FoundRow
    /// The index of the row's entity in ``entities``. An object reference would be retained and
    /// released whenever sorting moves an entry.
    let entity: Int32
  }

  private let order: Order
  /// The rows kept so far. Once full, a heap with the last row at the top; unordered until then.
  private var entries: [Entry] = []
  private var entities: [EntitySchema] = []
  private let maximumCount: Int
  /// The number of keys of discarded rows that still occupy memory.
  private var stale = 0
  /// The position after which rows are wanted, or `nil` for all.
  private var position: RowPosition<Order>?
  private let positionValues: [PropertyValue]
  private let limit: WorkLimit

  /// - Parameters:
  ///   - maximumCount: The maximum number of rows to keep, or `nil` for all.
  ///   - continuation: The row after which the kept rows begin.
  /// - Throws: ``ArborError`` `invalidArgument` if the continuation does not match the order.
  init(
    _ order: Order, maximumCount: Int?, behind continuation: RowContinuation? = nil,
    limit: WorkLimit = WorkLimit()
  ) throws {
    self.order = order
    self.limit = limit
    self.maximumCount = maximumCount ?? .max
    positionValues = continuation?.values ?? []
    position = try continuation.map { try $0.position(in: order) }
  }

  /// Takes rows of one entity. Always returns `true`, because more rows are wanted.
  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices { try add(rows[index], of: entity) }
    return true
  }

  @inline(__always)
  mutating func add(_ row: FoundRow, of entity: EntitySchema) throws {
    let (number, record) = (row.number, row.record)
    if let position, try !position.isBefore(number, record, of: entity, order) { return }
    guard entries.count == maximumCount else {
      let key = try order.key(number, record, of: entity)
      entries.append(Entry(key: key, row: row, entity: index(of: entity)))
      if entries.count == maximumCount { makeHeap() }
      return
    }
    if order.isCertainlyAfter(record, of: entity, entries[0].key) { return }
    let key = try order.key(number, record, of: entity)
    let entry = Entry(key: key, row: row, entity: index(of: entity))
    if isBefore(entry, entries[0]) {
      entries[0] = entry
      sink(0)
      stale += 1
      if stale > 4 * maximumCount + 1000 { try renewKeys() }
    } else {
      order.dropLastKey()
    }
  }

  /// Returns the index of an entity in ``entities``. Rows of one entity are usually consecutive.
  @inline(__always)
  private mutating func index(of entity: EntitySchema) -> Int32 {
    if let last = entities.last, last === entity { return Int32(entities.count - 1) }
    if let known = entities.firstIndex(where: { $0 === entity }) { return Int32(known) }
    entities.append(entity)
    return Int32(entities.count - 1)
  }

  /// Delivers the rows in order.
  mutating func drain(into rows: inout RowDelivery) throws {
    for index in try sortedIndices() {
      try limit.check()
      let entry = entries[index]
      let entity = entities[Int(entry.entity)]
      guard try rows.take(entry.row.number, entry.row.state, of: entity) else { return }
    }
  }

  /// Returns the indices of the entries in order: sorted by prefix, with equal prefixes compared in
  /// full.
  private func sortedIndices() throws -> [Int] {
    var prefixes = SortedPrefixes(count: entries.count) { order.prefix(of: entries[$0].key) }
    try prefixes.sort(limit)
    return try prefixes.indices { left, right in
      try limit.check()
      return isBefore(entries[left], entries[right])
    }
  }

  /// Rebuilds all keys to free the memory of stale ones.
  private mutating func renewKeys() throws {
    order.dropKeys()
    if let kept = position, let key = order.key(of: positionValues) {
      position = RowPosition(key: key, number: kept.number)
    }
    for index in entries.indices {
      let entry = entries[index]
      entries[index].key = try order.key(
        entry.row.number, entry.row.record, of: entities[Int(entry.entity)])
    }
    stale = 0
  }

  @inline(__always)
  private func isBefore(_ left: Entry, _ right: Entry) -> Bool {
    switch order.compare(left.key, right.key) {
    case .less: true
    case .greater: false
    case .equal: left.row.number < right.row.number
    }
  }

  private mutating func makeHeap() {
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var last = index
      for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
        if isBefore(entries[last], entries[child]) { last = child }
      }
      guard last != index else { return }
      entries.swapAt(index, last)
      index = last
    }
  }
}
