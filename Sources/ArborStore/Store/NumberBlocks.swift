internal import ArborLocks
internal import ArborModel
internal import LMDB

/// Numbers that have been reserved in the file.
struct NumberReservation: Sendable {
  /// Which counter: 0 for unique IDs, then the entities in their order.
  let counter: Int
  let numbers: Range<UInt64>
}

/// Hands out object numbers and unique IDs from blocks that were reserved in the file.
///
/// A counter in the file holds the first number that nobody has reserved yet. It only grows, and a
/// block is used only once its reservation is durable: no number is given out twice, whatever
/// crashes. What a process leaves of its blocks is lost.
final class NumberBlocks: Sendable {
  /// How many numbers a process reserves at first; blocks grow as they are used up.
  static let firstSize: UInt64 = 64
  private static let largestSize: UInt64 = 1 << 20

  private struct Block {
    var next: UInt64 = 0
    var end: UInt64 = 0
    /// How many numbers to reserve next.
    var size = NumberBlocks.firstSize

    var left: UInt64 { end - next }

    mutating func take(_ count: UInt64) -> Range<UInt64>? {
      guard left >= count else { return nil }
      defer { next += count }
      return next..<(next + count)
    }

    mutating func add(_ numbers: Range<UInt64>) {
      if numbers.lowerBound == end {
        end = numbers.upperBound
      } else if UInt64(numbers.count) > left {
        next = numbers.lowerBound
        end = numbers.upperBound
      }
    }
  }

  private let blocks: Lock<[Block]>
  /// Held while one thread reserves, so that others wait for its block instead of adding theirs.
  private let reserving = Lock(())

  init(_ schema: ModelSchema) {
    blocks = Lock([Block](repeating: Block(), count: schema.entities.count + 1))
  }

  // MARK: Taking

  func takeNumbers(
    _ count: Int, for entity: EntitySchema, of store: StoreEngine
  ) throws(StoreError) -> Range<UInt64> {
    try take(UInt64(count), counter: entity.index + 1, of: store)
  }

  func takeUniqueIDs(_ count: Int, of store: StoreEngine) throws(StoreError) -> Range<Int64> {
    let numbers = try take(UInt64(count), counter: 0, of: store)
    return Int64(numbers.lowerBound)..<Int64(numbers.upperBound)
  }

  private func take(
    _ count: UInt64, counter: Int, of store: StoreEngine
  ) throws(StoreError) -> Range<UInt64> {
    if let numbers = blocks.withLock({ $0[counter].take(count) }) { return numbers }
    return try reserving.withLock { _ throws(StoreError) in
      while true {
        let size = blocks.withLock { blocks -> UInt64? in
          if blocks[counter].left >= count { return nil }
          defer { blocks[counter].size = min(blocks[counter].size * 4, Self.largestSize) }
          return blocks[counter].size
        }
        if let size {
          install([try reserve(max(count, size), atLeast: count, counter: counter, of: store)])
        }
        if let numbers = blocks.withLock({ $0[counter].take(count) }) { return numbers }
      }
    }
  }

  // MARK: Reserving

  /// Reserves a block in a transaction of its own.
  private func reserve(
    _ size: UInt64, atLeast count: UInt64, counter: Int, of store: StoreEngine
  ) throws(StoreError) -> NumberReservation {
    guard !store.hasEnded else { throw .closed }
    guard !store.isReadOnly else { throw .readOnly(path: store.path) }
    if let log = store.sharedLog {
      return try reserve(size, atLeast: count, counter, in: log, of: store)
    }
    var reservation = NumberReservation(counter: counter, numbers: 0..<0)
    try store.write { (transaction, _) throws(StoreError) in
      reservation = try Self.reserve(size, atLeast: count, counter, of: store, transaction)
    }
    // Relaxed durability may lose commits, but never a number that was given out.
    if store.durability == .relaxed {
      try storing { () throws(LMDBError) in try store.environment.synchronize() }
    }
    return reservation
  }

  /// Reserves numbers in the log that the store shares, where all copies of it do, or what is left
  /// of them if that is `count` at least.
  ///
  /// - Throws: `exhausted` where it is less, `log` for numbers that may be given out already.
  private func reserve(
    _ size: UInt64, atLeast count: UInt64, _ counter: Int, in log: any SharedLog,
    of store: StoreEngine
  ) throws(StoreError) -> NumberReservation {
    let name = Self.name(of: counter, in: store)
    let snapshot = try store.snapshot()
    let least = try StoreCounter.read(name, store.databases.arbor, try snapshot.reader)
    snapshot.close()
    guard Self.left(in: name, from: least) >= count else {
      throw Self.exhausted(counter, of: store)
    }
    let reserved = try log.reserve(name, size, from: least)
    guard reserved.lowerBound >= least, reserved.upperBound - reserved.lowerBound == size else {
      throw .log(
        ArborError(
          .corrupted,
          "The log gives out the numbers from \(reserved.lowerBound) to \(reserved.upperBound) of "
            + "\(name), where it was asked for \(size) from \(least) on. Bring the log back from a "
            + "backup of the server."))
    }
    let left = Self.left(in: name, from: reserved.lowerBound)
    guard left >= count else { throw Self.exhausted(counter, of: store) }
    let numbers = reserved.lowerBound..<reserved.lowerBound + min(size, left)
    // A process that uses the store without its log goes on behind them.
    try store.write(isLogged: true) { (transaction, _) throws(StoreError) in
      try StoreCounter.raise(name, to: numbers.upperBound, store.databases.arbor, transaction)
    }
    return NumberReservation(counter: counter, numbers: numbers)
  }

  /// How many numbers a counter can give out still. What a damaged one says may lie above all.
  private static func left(in name: String, from first: UInt64) -> UInt64 {
    let limit = StoreCounter.limit(name)
    return first > limit ? 0 : limit - first
  }

  private static func exhausted(_ counter: Int, of store: StoreEngine) -> StoreError {
    guard counter > 0 else {
      return .exhausted("The store has used up its 2^63 unique IDs; start a new store.")
    }
    let entity = store.schema.entities[counter - 1].name
    return .exhausted("\(entity) has used up its 2^48 object numbers; start a new store.")
  }

  private static func name(of counter: Int, in store: StoreEngine) -> String {
    guard counter > 0 else { return StoreFormat.uniqueIDCounter }
    return StoreFormat.objectCounter(store.schema.entities[counter - 1].number)
  }

  /// Reserves `size` numbers, or what is left of them if that is `count` at least.
  ///
  /// - Throws: `exhausted` where it is less; the counter stays as it is then.
  private static func reserve(
    _ size: UInt64, atLeast count: UInt64, _ counter: Int, of store: StoreEngine,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> NumberReservation {
    let name = Self.name(of: counter, in: store)
    let arbor = store.databases.arbor
    let first = try StoreCounter.read(name, arbor, transaction.reader)
    let left = left(in: name, from: first)
    guard left >= count else { throw exhausted(counter, of: store) }
    let end = first + min(size, left)
    try storing { () throws(LMDBError) in
      try StoreCounter.write(name, end, arbor, transaction)
    }
    return NumberReservation(counter: counter, numbers: first..<end)
  }

  /// Fills up blocks that run low, in a transaction that commits anyway. The numbers may be used
  /// once it has; ``install(_:)`` then.
  func topUp(
    of store: StoreEngine, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [NumberReservation] {
    // Relaxed commits are not durable when they return: see reserve(_:counter:of:).
    if store.durability == .relaxed || store.sharedLog != nil { return [] }
    let low = blocks.withLock { blocks in
      blocks.indices.filter { blocks[$0].end > 0 && blocks[$0].left < blocks[$0].size / 2 }
        .map { (counter: $0, size: blocks[$0].size) }
    }
    var reservations: [NumberReservation] = []
    for (counter, size) in low {
      do throws(StoreError) {
        reservations.append(
          try Self.reserve(size, atLeast: 1, counter, of: store, transaction))
      } catch .exhausted {
        // A caller that needs more numbers than are left is told.
      } catch {
        throw error
      }
    }
    return reservations
  }

  func install(_ reservations: [NumberReservation]) {
    guard !reservations.isEmpty else { return }
    blocks.withLock { blocks in
      for reservation in reservations { blocks[reservation.counter].add(reservation.numbers) }
    }
  }
}
