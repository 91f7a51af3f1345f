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
  private var room: Int
  private let pending: [PendingRow]
  private var nextPending = 0
  private var wantsMore = true

  /// Rows of one entity that the sink has not taken yet.
  private var rows: [FoundRow] = []
  private var entity: EntitySchema?
  private var rowsAtOnce: Int

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
    if nextPending < pending.count { try takePending(upTo: number) }
    guard wantsMore else { return false }
    return try add(FoundRow(number: number, state: state), of: entity)
  }

  /// Hands over what is left, the pending rows behind the last stored one among it.
  mutating func finish() throws {
    if nextPending < pending.count { try takePending(upTo: ObjectNumber(rawValue: .max)) }
    _ = try handOver()
  }

  @inline(never)
  private mutating func takePending(upTo number: ObjectNumber) throws {
    while wantsMore, nextPending < pending.count, pending[nextPending].number < number {
      let row = pending[nextPending]
      nextPending += 1
      _ = try add(FoundRow(number: row.number, state: .pending(row.record)), of: row.entity)
    }
  }

  @inline(__always)
  private mutating func add(_ row: FoundRow, of entity: EntitySchema) throws -> Bool {
    if toSkip > 0 {
      toSkip -= 1
      return true
    }
    if self.entity !== entity {
      guard try turn(to: entity) else { return false }
    }
    rows.append(row)
    room -= 1
    return rows.count < rowsAtOnce && room > 0 ? true : try handOver()
  }

  @inline(never)
  private mutating func turn(to entity: EntitySchema) throws -> Bool {
    guard try handOver() else { return false }
    self.entity = entity
    return true
  }

  /// Lets the sink take the rows there are; returns whether more are wanted.
  @inline(never)
  mutating func handOver() throws -> Bool {
    guard wantsMore, let entity, !rows.isEmpty else { return wantsMore }
    wantsMore = try sink.take(rows, of: entity) && room > 0
    rows.removeAll(keepingCapacity: true)
    rowsAtOnce = min(Self.capacity, sink.rowsWanted)
    return wantsMore
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
