internal import ArborModel

/// How rows are compared by the sort keys of a query.
protocol RowOrder: AnyObject {
  /// What is kept of a row to compare it.
  associatedtype Key

  /// Whether a row certainly comes after one whose key is given; cheap, and false where in doubt.
  func isCertainlyAfter(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool

  /// Whether a row certainly comes before one whose key is given; cheap, and false where in doubt.
  func isCertainlyBefore(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool

  /// The key of a row whose sort keys had these values, as ``SortColumns`` gives them; nil where
  /// they are none that a row could have.
  func key(of values: [PropertyValue]) -> Key?

  /// The key of a row.
  func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) throws -> Key

  /// Forgets the key that was made last.
  func dropLastKey()

  /// Forgets all keys.
  func dropKeys()

  /// A number that orders rows as their keys do, except that rows whose keys differ may share one.
  func prefix(of key: Key) -> UInt64

  /// How the row of one key lies to that of another.
  func compare(_ left: Key, _ right: Key) -> Ordering
}

/// Sorts rows, or keeps the first ones of their order in a bounded heap: rows are compared by small
/// keys and copied only once it is certain that they are wanted.
struct RowSorter<Order: RowOrder> {
  private struct Entry {
    var key: Order.Key
    let row: FoundRow
    /// The index of the row's entity in ``entities``: sorting moves entries about, and an object
    /// would be retained and released each time.
    let entity: Int32
  }

  private let order: Order
  /// A heap, the last row of the order on top, once it is full; until then in no order.
  private var entries: [Entry] = []
  /// The entities of the rows.
  private var entities: [EntitySchema] = []
  private let most: Int
  /// How many keys have been left behind by better rows since all were made.
  private var stale = 0
  /// The position behind which rows are wanted; nil for all.
  private var position: RowPosition<Order>?
  private let positionValues: [PropertyValue]
  private let limit: WorkLimit

  /// - Parameters:
  ///   - most: How many rows of the order's beginning are wanted; nil for all.
  ///   - continuation: Behind which row that beginning is.
  /// - Throws: ``ArborError`` `invalidArgument` for a continuation that is none of this order.
  init(
    _ order: Order, most: Int?, behind continuation: RowContinuation? = nil,
    limit: WorkLimit = WorkLimit()
  ) throws {
    self.order = order
    self.limit = limit
    self.most = most ?? .max
    positionValues = continuation?.values ?? []
    position = try continuation.map { try $0.position(in: order) }
  }

  /// Takes rows of one entity; always wants more.
  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices { try add(rows[index], of: entity) }
    return true
  }

  /// Takes one row.
  @inline(__always)
  mutating func add(_ row: FoundRow, of entity: EntitySchema) throws {
    let (number, record) = (row.number, row.record)
    if let position, try !position.isBefore(number, record, of: entity, order) { return }
    guard entries.count == most else {
      let key = try order.key(number, record, of: entity)
      entries.append(Entry(key: key, row: row, entity: index(of: entity)))
      if entries.count == most { makeHeap() }
      return
    }
    if order.isCertainlyAfter(record, of: entity, entries[0].key) { return }
    let key = try order.key(number, record, of: entity)
    let entry = Entry(key: key, row: row, entity: index(of: entity))
    if isBefore(entry, entries[0]) {
      entries[0] = entry
      sink(0)
      stale += 1
      if stale > 4 * most + 1000 { try renewKeys() }
    } else {
      order.dropLastKey()
    }
  }

  /// The index of an entity in ``entities``. Rows of one entity follow one another.
  @inline(__always)
  private mutating func index(of entity: EntitySchema) -> Int32 {
    if let last = entities.last, last === entity { return Int32(entities.count - 1) }
    if let known = entities.firstIndex(where: { $0 === entity }) { return Int32(known) }
    entities.append(entity)
    return Int32(entities.count - 1)
  }

  /// Hands the rows over in their order.
  mutating func drain(into rows: inout RowDelivery) throws {
    for index in try sortedIndices() {
      try limit.check()
      let entry = entries[index]
      let entity = entities[Int(entry.entity)]
      guard try rows.take(entry.row.number, entry.row.state, of: entity) else { return }
    }
  }

  /// The indices of the entries in their order: by prefixes, then whole among those that share one.
  private func sortedIndices() throws -> [Int] {
    var prefixes = SortedPrefixes(count: entries.count) { order.prefix(of: entries[$0].key) }
    try prefixes.sort(limit)
    return try prefixes.indices { left, right in
      try limit.check()
      return isBefore(entries[left], entries[right])
    }
  }

  /// Makes all keys again, so that those left behind take no more memory.
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
