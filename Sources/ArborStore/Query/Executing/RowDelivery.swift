internal import ArborModel

/// Delivers rows from the loop that finds them to a sink. It merges pending rows with stored ones
/// by number, skips the offset and stops at the limit.
struct RowDelivery {
  /// The maximum number of rows per delivery.
  private static let capacity = 64

  private var sink: any RowSink
  /// The requirements of the sink; see ``RowSink``.
  let (readsRecords, readsKnown, keepsRecords): (Bool, Bool, Bool)

  private var toSkip: Int
  /// The number of rows that the query still wants, including those in the buffer.
  private var room: Int
  private let pending: [PendingRow]
  private var nextPending = 0
  private var wantsMore = true

  /// Rows of one entity that have not been delivered yet.
  private let buffer = RowBuffer(capacity: Self.capacity)
  private var count = 0
  private var entity: EntitySchema?
  private var rowsAtOnce: Int
  /// The number of rows of ``entity`` that can be buffered without further checks.
  private var free = 0

  /// - Parameters:
  ///   - offset: The number of rows to skip first.
  ///   - limit: The maximum number of rows, or 0 for no limit.
  ///   - pending: The context's rows, which are merged with the stored ones by number.
  init<Sink: RowSink>(
    to sink: Sink, offset: Int = 0, limit: Int = 0, pending: [PendingRow] = []
  ) {
    self.sink = sink
    (readsRecords, readsKnown, keepsRecords) = (
      Sink.readsRecords, Sink.readsKnown, Sink.keepsRecords
    )
    toSkip = offset
    room = limit > 0 ? limit : .max
    self.pending = pending.sorted { $0.number < $1.number }
    rowsAtOnce = min(Self.capacity, sink.rowsWanted)
  }

  /// Returns the sink with all rows that it has taken.
  func sink<Sink: RowSink>(as type: Sink.Type) -> Sink {
    guard let sink = sink as? Sink else {
      stopProgram("Rows were delivered to \(Swift.type(of: sink)) instead of \(type).")
    }
    return sink
  }

  /// The number of rows after which no more may be wanted.
  var rowsWanted: Int {
    let (sum, overflows) = toSkip.addingReportingOverflow(min(room, sink.rowsWanted))
    return overflows ? .max : sum
  }

  /// Takes a matching row. Returns whether more rows are wanted.
  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ state: FoundState, of entity: EntitySchema
  ) throws -> Bool {
    let row = FoundRow(number: number, state: state)
    guard free > 0, self.entity === entity else { return try takeDeciding(row, of: entity) }
    buffer.put(row, at: count)
    count += 1
    free -= 1
    return true
  }

  /// Delivers the remaining rows, including the pending rows after the last stored one.
  mutating func finish() throws {
    if nextPending < pending.count { try takePending(upTo: ObjectNumber(rawValue: .max)) }
    _ = try handOver()
  }

  @inline(never)
  private mutating func takeDeciding(_ row: FoundRow, of entity: EntitySchema) throws -> Bool {
    if nextPending < pending.count { try takePending(upTo: row.number) }
    return try add(row, of: entity)
  }

  private mutating func takePending(upTo number: ObjectNumber) throws {
    while wantsMore, nextPending < pending.count, pending[nextPending].number < number {
      let row = pending[nextPending]
      nextPending += 1
      _ = try add(FoundRow(number: row.number, state: .pending(row.record)), of: row.entity)
    }
  }

  private mutating func add(_ row: FoundRow, of entity: EntitySchema) throws -> Bool {
    guard wantsMore else { return false }
    if toSkip > 0 {
      toSkip -= 1
      return true
    }
    if self.entity !== entity {
      guard try handOver() else { return false }
      self.entity = entity
    }
    buffer.put(row, at: count)
    count += 1
    let most = min(rowsAtOnce, room)
    guard count < most else { return try handOver() }
    // The last row of a batch triggers its delivery, so it is not counted.
    free = nextPending < pending.count ? 0 : most - count - 1
    return true
  }

  /// Delivers the buffered rows to the sink. Returns whether more are wanted.
  @inline(never)
  mutating func handOver() throws -> Bool {
    guard wantsMore, let entity, count > 0 else { return wantsMore }
    let delivered = count
    // Before the sink can throw, so that the buffer never overflows.
    (count, free) = (0, 0)
    room -= delivered
    wantsMore = try buffer.withRows(delivered) { try sink.take($0, of: entity) } && room > 0
    rowsAtOnce = min(Self.capacity, sink.rowsWanted)
    return wantsMore
  }
}

/// Memory for a batch of rows. An array would check its uniqueness for every row.
///
/// Memory safety: a delivery buffers at most its capacity, because a full batch is delivered before
/// another row is stored. Copies of a delivery share the buffer, so only one of them may be used.
private final class RowBuffer {
  private let rows: UnsafeMutableBufferPointer<FoundRow>

  init(capacity: Int) { rows = .allocate(capacity: capacity) }

  deinit { rows.deallocate() }

  /// Stores a row at an index below the capacity. Rows are trivial, so one may overwrite another.
  @inline(__always)
  func put(_ row: FoundRow, at index: Int) {
    rows.baseAddress.unsafelyUnwrapped.advanced(by: index).initialize(to: row)
  }

  /// Calls `body` with the first rows, all of which must have been stored.
  func withRows<R>(_ count: Int, _ body: (Span<FoundRow>) throws -> R) rethrows -> R {
    try body(Span(_unsafeElements: UnsafeBufferPointer(rebasing: rows[..<count])))
  }
}

/// A pending row that satisfies the query's predicate.
struct PendingRow {
  let number: ObjectNumber
  let record: RecordView
  let entity: EntitySchema
}

/// A row's position in an order: its sort key, then its number.
struct RowPosition<Order: RowOrder> {
  let key: Order.Key
  let number: ObjectNumber

  /// Returns whether this position precedes another row.
  @inline(__always)
  func isBefore(
    _ other: ObjectNumber, _ record: RecordView, of entity: EntitySchema, _ order: Order
  ) throws -> Bool {
    if order.isCertainlyBefore(record, of: entity, key) { return false }
    let otherKey = try order.key(other, record, of: entity)
    defer { order.dropLastKey() }
    switch order.compare(key, otherKey) {
    case .less: return true
    case .greater: return false
    case .equal: return number < other
    }
  }
}
