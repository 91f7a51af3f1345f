internal import ArborModel

/// Carries rows from the loop that finds them to the sink that takes them. It merges the context's
/// rows with the store's by number, skips the offset and stops at the limit.
struct RowDelivery {
  /// The most rows that the sink gets at once.
  private static let capacity = 64

  private var sink: any RowSink
  /// As the sink says; see ``RowSink``.
  let (readsRecords, readsKnown, keepsRecords): (Bool, Bool, Bool)

  private var toSkip: Int
  /// How many more rows the query wants, those in the buffer among them.
  private var room: Int
  private let pending: [PendingRow]
  private var nextPending = 0
  private var wantsMore = true

  /// Rows of one entity that the sink has not taken yet.
  private let buffer = RowBuffer(capacity: Self.capacity)
  private var count = 0
  private var entity: EntitySchema?
  private var rowsAtOnce: Int
  /// How many rows of ``entity`` may come before there is anything to decide.
  private var free = 0

  /// - Parameters:
  ///   - offset: How many rows are left out first.
  ///   - limit: After how many rows no more are wanted; 0 for all.
  ///   - pending: Rows of the context, put among the store's by number.
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

  /// The sink, with all that it has taken.
  func sink<Sink: RowSink>(as type: Sink.Type) -> Sink {
    guard let sink = sink as? Sink else {
      stopProgram("Rows were delivered to \(Swift.type(of: sink)) instead of \(type).")
    }
    return sink
  }

  /// After how many rows no more may be wanted.
  var rowsWanted: Int {
    let (sum, overflows) = toSkip.addingReportingOverflow(min(room, sink.rowsWanted))
    return overflows ? .max : sum
  }

  /// Takes a row that passed; returns whether more rows are wanted.
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

  /// Hands over what is left, the pending rows behind the last stored one among it.
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
    // The last row of a batch is not free: it hands the batch over.
    free = nextPending < pending.count ? 0 : most - count - 1
    return true
  }

  /// Lets the sink take the rows there are; returns whether more are wanted.
  @inline(never)
  mutating func handOver() throws -> Bool {
    guard wantsMore, let entity, count > 0 else { return wantsMore }
    room -= count
    wantsMore = try buffer.withRows(count) { try sink.take($0, of: entity) } && room > 0
    (count, free) = (0, 0)
    rowsAtOnce = min(Self.capacity, sink.rowsWanted)
    return wantsMore
  }
}

/// Memory for a batch of rows. An array would check for unique ownership with every row.
private final class RowBuffer {
  private let rows: UnsafeMutableBufferPointer<FoundRow>

  init(capacity: Int) { rows = .allocate(capacity: capacity) }

  deinit { rows.deallocate() }

  /// Puts a row at an index below the capacity. Rows are bytes without references, so that one may
  /// be put over another.
  @inline(__always)
  func put(_ row: FoundRow, at index: Int) {
    rows.baseAddress.unsafelyUnwrapped.advanced(by: index).initialize(to: row)
  }

  /// Lets a body read the first rows, all of which have been put.
  func withRows<R>(_ count: Int, _ body: (Span<FoundRow>) throws -> R) rethrows -> R {
    try body(Span(_unsafeElements: UnsafeBufferPointer(rebasing: rows[..<count])))
  }
}

/// A row of the context that fulfils the query's predicate.
struct PendingRow {
  let number: ObjectNumber
  let record: RecordView
  let entity: EntitySchema
}

/// A row's position in an order: what its sort keys said, then its number.
struct RowPosition<Order: RowOrder> {
  let key: Order.Key
  let number: ObjectNumber

  /// Whether another row comes behind this position.
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
