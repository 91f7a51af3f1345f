internal import ArborModel

/// The state of a found object. Records are valid until the query has been answered.
enum FoundState {
  /// A record in the memory map.
  case stored(RecordView)
  /// A record of the context.
  case pending(RecordView)
  /// The object is a row, but its record is not needed.
  case known
}

/// An object that a query found.
struct FoundRow {
  let number: ObjectNumber
  let state: FoundState

  /// The object's record. The row must not be ``FoundState/known``.
  var record: RecordView {
    switch state {
    case .stored(let record), .pending(let record): return record
    case .known:
      stopProgram(
        "A row's record was requested, although the sink doesn't read records.")
    }
  }
}

/// A consumer of a query's rows. Rows come in batches, so that the loops that find rows and the
/// sinks that take them are compiled once each rather than once per pair.
protocol RowSink {
  /// Whether the sink reads records. Otherwise rows may come without them.
  static var readsRecords: Bool { get }
  /// Whether the sink reads records of objects that the context has registered. Otherwise these
  /// rows may come without records.
  static var readsKnown: Bool { get }
  /// Whether records must stay valid until the query has been answered.
  static var keepsRecords: Bool { get }

  /// The number of rows after which the sink may not want more, or `.max` to take all rows.
  var rowsWanted: Int { get }

  /// Takes matching rows of one entity in the order in which they were found. Returns whether more
  /// are wanted.
  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool
}

extension RowSink {
  static var readsRecords: Bool { true }
  static var readsKnown: Bool { readsRecords }
  static var keepsRecords: Bool { readsRecords }
  var rowsWanted: Int { .max }
}

/// Passes rows to a closure. Generic types take rows through it: used as sinks, they would be
/// called through unspecialized witnesses, which nearly doubles the time of a sort.
struct RowHandler: RowSink {
  let rowsWanted: Int
  private let handle: (Span<FoundRow>, EntitySchema) throws -> Bool

  init(
    rowsWanted: Int = .max, _ handle: @escaping (Span<FoundRow>, EntitySchema) throws -> Bool
  ) {
    self.rowsWanted = rowsWanted
    self.handle = handle
  }

  func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    try handle(rows, entity)
  }
}

struct RowCounter: RowSink {
  static var readsRecords: Bool { false }

  private(set) var count = 0

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    count += rows.count
    return true
  }
}

/// Lists the numbers of rows in delivery order.
struct RowNumbers: RowSink {
  static var readsRecords: Bool { false }

  private(set) var numbers: [ObjectNumber] = []

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    for index in rows.indices { numbers.append(rows[index].number) }
    return true
  }
}

/// Copies rows into slabs in delivery order.
struct RowCollector: RowSink {
  static var readsKnown: Bool { false }
  static var keepsRecords: Bool { false }

  private let allocator: SlabAllocator
  private let known: NumberMap?
  private let expected: Int
  private(set) var result = FetchedRecords()

  /// - Parameters:
  ///   - known: The objects whose records need no copy.
  ///   - expected: The number of rows, if it is certain.
  init(_ allocator: SlabAllocator, known: NumberMap?, expected: Int = 0) {
    self.allocator = allocator
    self.known = known.flatMap { $0.count > 0 ? $0 : nil }
    self.expected = expected
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    // Only once there is a row, because each attempted plan starts with a copy of this sink.
    if result.rows.isEmpty { result.rows.reserveCapacity(expected) }
    for index in rows.indices {
      let row = rows[index]
      if case .stored(let record) = row.state, !isKnown(row.number) {
        copy(row.number, record)
      } else {
        result.rows.append(FetchedRow(known: row.number))
      }
    }
    return true
  }

  @inline(__always)
  private func isKnown(_ number: ObjectNumber) -> Bool {
    guard let known else { return false }
    return known.contains(number)
  }

  @inline(__always)
  private mutating func copy(_ number: ObjectNumber, _ record: RecordView) {
    let target = allocator.allocate(record.count)
    target.copyMemory(from: record.base, byteCount: record.count)
    result.append(number, RecordView(base: target, count: record.count), in: allocator)
  }
}
