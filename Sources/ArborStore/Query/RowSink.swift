internal import ArborModel

/// The state of an object that a query found. Records are valid until the query has been answered.
enum FoundRow {
  /// A record where it lies in the map.
  case stored(RecordView)
  /// A record of the context.
  case pending(RecordView)
  /// The context has the object, and nothing was asked of it.
  case known
}

/// Takes the rows of a query one after another.
protocol RowSink {
  /// Takes a row that passed; returns whether more rows are wanted.
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool
}

/// Counts rows.
struct RowCounter: RowSink {
  private(set) var count = 0

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    count += 1
    return true
  }
}

/// Copies rows into slabs in the order they come.
struct RowCollector: RowSink {
  private let allocator: SlabAllocator
  private let known: NumberMap?
  private var toSkip: Int
  private var room: Int
  private(set) var result = FetchedRecords()

  /// - Parameters:
  ///   - known: The objects whose records need no copy.
  ///   - offset: How many rows are left out at the beginning.
  ///   - limit: After how many rows no more are wanted; nil for all.
  ///   - expected: How many rows will come, where that is certain.
  init(
    _ allocator: SlabAllocator, known: NumberMap?, offset: Int, limit: Int?, expected: Int = 0
  ) {
    self.allocator = allocator
    self.known = known.flatMap { $0.count > 0 ? $0 : nil }
    toSkip = offset
    room = limit ?? .max
    result.rows.reserveCapacity(max(0, min(room, expected - offset)))
  }

  @inline(__always)
  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    if toSkip > 0 {
      toSkip -= 1
      return true
    }
    if case .stored(let record) = row, !isKnown(number) {
      copy(number, record)
    } else {
      result.rows.append(FetchedRow(known: number))
    }
    room -= 1
    return room > 0
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
    if result.slabs.last !== allocator.slab { result.slabs.append(allocator.slab) }
    result.rows.append(
      FetchedRow(
        number, copy: RecordView(base: target, count: record.count),
        slabIndex: result.slabs.count - 1))
  }
}
