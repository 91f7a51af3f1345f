internal import ArborModel

// Sinks that stand between the way rows are found and the one that takes them. They are generic, so
// that a chain is compiled into one loop.

/// Leaves out the first rows and ends the query after a number of rows.
struct LimitedRows<Base: RowSink>: RowSink {
  static var readsRecords: Bool { Base.readsRecords }
  static var readsKnown: Bool { Base.readsKnown }

  var base: Base
  private var toSkip: Int
  private var room: Int

  /// - Parameter limit: After how many rows no more are wanted; 0 for all.
  init(_ base: consuming Base, offset: Int = 0, limit: Int) {
    self.base = base
    toSkip = offset
    room = limit > 0 ? limit : .max
  }

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool {
    if toSkip > 0 {
      toSkip -= 1
      return true
    }
    room -= 1
    return try base.take(number, row, of: entity) && room > 0
  }
}

/// Puts the context's rows between the store's, both in the order of their numbers.
struct MergedRows<Base: RowSink>: RowSink {
  static var readsRecords: Bool { Base.readsRecords }
  static var readsKnown: Bool { Base.readsKnown }

  var base: Base
  private let pending: [PendingRow]
  private var position = 0
  private var wantsMore = true

  init(_ base: consuming Base, _ pending: [PendingRow]) {
    self.base = base
    self.pending = pending.sorted { $0.number < $1.number }
  }

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool {
    if position < pending.count { try takePending(upTo: number) }
    guard wantsMore else { return false }
    wantsMore = try base.take(number, row, of: entity)
    return wantsMore
  }

  /// Hands over the pending rows behind the last stored one.
  mutating func finish() throws { try takePending(upTo: ObjectNumber(rawValue: .max)) }

  @inline(never)
  private mutating func takePending(upTo number: ObjectNumber) throws {
    while wantsMore, position < pending.count, pending[position].number < number {
      let row = pending[position]
      position += 1
      wantsMore = try base.take(row.number, .pending(row.record), of: row.entity)
    }
  }
}

/// A row of the context that fulfils the query's predicate.
struct PendingRow {
  let number: ObjectNumber
  let record: RecordView
  let entity: EntitySchema
}

/// Passes on the rows behind a position in an order.
struct ContinuedRows<Base: RowSink, Order: RowOrder>: RowSink {
  static var readsRecords: Bool { true }

  var base: Base
  let order: Order
  let position: RowPosition<Order>

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool {
    guard try position.isBefore(number, row.record, of: entity, order) else { return true }
    return try base.take(number, row, of: entity)
  }
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
