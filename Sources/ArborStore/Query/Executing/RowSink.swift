internal import ArborModel

/// The state of an object that a query found. Records are valid until the query has been answered.
enum FoundRow {
  /// A record where it lies in the map.
  case stored(RecordView)
  /// A record of the context.
  case pending(RecordView)
  /// The object is a row, and nobody asked what it holds.
  case known
}

/// Takes the rows of a query one after another.
protocol RowSink {
  /// Whether the sink looks at records. The rows of one that does not may come without.
  static var readsRecords: Bool { get }
  /// Whether the sink looks at records of objects that the context has registered. The rows of one
  /// that does not may come without.
  static var readsKnown: Bool { get }
  /// Whether a row's record has to stay where it is until the query has been answered.
  static var keepsRecords: Bool { get }

  /// Takes a row that passed; returns whether more rows are wanted.
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool
}

extension RowSink {
  static var readsRecords: Bool { true }
  static var readsKnown: Bool { readsRecords }
  static var keepsRecords: Bool { readsRecords }
}

/// Counts rows.
struct RowCounter: RowSink {
  static var readsRecords: Bool { false }

  private(set) var count = 0

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    count += 1
    return true
  }
}

/// Lists the numbers of rows in the order they come.
struct RowNumbers: RowSink {
  static var readsRecords: Bool { false }

  private(set) var numbers: [ObjectNumber] = []

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    numbers.append(number)
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

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    if case .stored(let record) = row, !isKnown(number) {
      copy(number, record)
    } else {
      result.rows.append(FetchedRow(known: number))
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
    // Not before there is a row: who tries one way after another starts with a copy of this.
    if result.rows.isEmpty { result.rows.reserveCapacity(expected) }
    result.append(number, RecordView(base: target, count: record.count), in: allocator)
  }
}
