internal import ArborModel

/// The state of an object that a query found. Records are valid until the query has been answered.
enum FoundState {
  /// A record where it lies in the map.
  case stored(RecordView)
  /// A record of the context.
  case pending(RecordView)
  /// The object is a row, and nobody asked what it holds.
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

/// Takes the rows of a query. Rows come in batches, so that the loops that find rows and the sinks
/// that take them are compiled once each, not once for every pair.
protocol RowSink {
  /// Whether the sink looks at records. The rows of one that does not may come without.
  static var readsRecords: Bool { get }
  /// Whether the sink looks at records of objects that the context has registered. The rows of one
  /// that does not may come without.
  static var readsKnown: Bool { get }
  /// Whether a row's record has to stay where it is until the query has been answered.
  static var keepsRecords: Bool { get }

  /// After how many rows the sink may want no more; `.max` for one that takes all there are.
  var rowsWanted: Int { get }

  /// Takes rows of one entity that passed, in the order they were found; returns whether more are
  /// wanted.
  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool
}

extension RowSink {
  static var readsRecords: Bool { true }
  static var readsKnown: Bool { readsRecords }
  static var keepsRecords: Bool { readsRecords }
  var rowsWanted: Int { .max }
}

/// Hands rows to a closure. Generic types take rows through one: as a sink, a generic type would be
/// called through its unspecialised witnesses, which nearly doubled the time of a sort.
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

/// Counts rows.
struct RowCounter: RowSink {
  static var readsRecords: Bool { false }

  private(set) var count = 0

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    count += rows.count
    return true
  }
}

/// Lists the numbers of rows in the order they come.
struct RowNumbers: RowSink {
  static var readsRecords: Bool { false }

  private(set) var numbers: [ObjectNumber] = []

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    for index in rows.indices { numbers.append(rows[index].number) }
    return true
  }
}

/// Copies rows into slabs in the order they come.
struct RowCollector: RowSink {
  static var readsKnown: Bool { false }
  static var keepsRecords: Bool { false }

  private let allocator: SlabAllocator
  private let known: NumberMap?
  private let expected: Int
  private(set) var result = FetchedRecords()

  /// - Parameters:
  ///   - known: The objects whose records need no copy.
  ///   - expected: How many rows will come, where that is certain.
  init(_ allocator: SlabAllocator, known: NumberMap?, expected: Int = 0) {
    self.allocator = allocator
    self.known = known.flatMap { $0.count > 0 ? $0 : nil }
    self.expected = expected
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    // Not before there is a row: who tries one way after another starts with a copy of this.
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
