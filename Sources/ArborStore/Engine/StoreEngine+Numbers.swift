package import ArborModel
internal import Dispatch
internal import LMDB

/// Assigns numbers for objects and for the application from ``NumberBlocks``.
extension StoreEngine {
  /// Returns sequence numbers for new objects of an entity, which have never been assigned before
  /// and are consecutive within one call.
  ///
  /// Takes nanoseconds, unless a new block has to be reserved in the file.
  ///
  /// - Parameter limit: Returns the limit of waiting for other writers while a block is reserved.
  package func takeNumbers(
    _ count: Int, for entity: EntitySchema, _ limit: @autoclosure () -> WorkLimit = WorkLimit()
  ) throws(StoreError) -> Range<UInt64> {
    try takeNumbers(UInt64(count), counter: entity.index + 1, limit)
  }

  /// Returns numbers for the application, ascending and never assigned before.
  package func takeUniqueIDs(_ count: Int) throws(StoreError) -> Range<Int64> {
    let numbers = try takeNumbers(UInt64(count), counter: 0) { WorkLimit() }
    return Int64(numbers.lowerBound)..<Int64(numbers.upperBound)
  }

  private func takeNumbers(
    _ count: UInt64, counter: Int, _ limit: () -> WorkLimit
  ) throws(StoreError) -> Range<UInt64> {
    if let numbers = blocks.take(count, of: counter) { return numbers }
    let limit = limit()
    try waitToReserve(limit)
    defer { blocks.reserving.signal() }
    return try blocks.take(count, of: counter) { (size) throws(StoreError) in
      try reserveNumbers(size, atLeast: count, counter, limit)
    }
  }

  /// Waits until no other thread of this process reserves numbers.
  ///
  /// - Throws: `interrupted` if the limit ends the wait; `busy` after the busy timeout.
  private func waitToReserve(_ limit: WorkLimit) throws(StoreError) {
    let start = Self.now
    let isFree = { self.blocks.reserving.wait(timeout: .now() + .milliseconds(5)) == .success }
    while !environment.whileWaiting(isFree) {
      if let reason = reasonToStop(waitingSince: start, limit) { throw reason }
    }
  }

  /// Refills blocks that are running low, in a transaction that commits anyway. The numbers may be
  /// used once it has committed; then call ``NumberBlocks/install(_:)``.
  func topUpNumbers(
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [NumberReservation] {
    // Relaxed commits are not durable when they return; see reserveNumbers(_:atLeast:_:).
    if !isDurable || sharedLog != nil { return [] }
    var reservations: [NumberReservation] = []
    for (counter, size) in blocks.low {
      do throws(StoreError) {
        reservations.append(try reserveNumbers(size, atLeast: 1, counter, transaction))
      } catch .exhausted {
        // A caller that needs more numbers than are left will get the error.
      } catch {
        throw error
      }
    }
    return reservations
  }

  // MARK: Reserving

  /// Reserves a block in its own transaction.
  private func reserveNumbers(
    _ size: UInt64, atLeast count: UInt64, _ counter: Int, _ limit: WorkLimit
  ) throws(StoreError) -> NumberReservation {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    if let log = sharedLog { return try reserveNumbers(size, atLeast: count, counter, in: log) }
    try enterGate(limit)
    defer { environment.leaveGate() }
    var reservation = NumberReservation(counter: counter, numbers: 0..<0)
    try runTransaction { (transaction, _) throws(StoreError) in
      reservation = try reserveNumbers(size, atLeast: count, counter, transaction)
    }
    // Relaxed durability may lose commits, but must never lose a reservation of assigned numbers.
    if !isDurable {
      try storing(environment.synchronize())
    }
    return reservation
  }

  /// Reserves `size` numbers in the shared log, as all copies of the store do, or the remaining
  /// ones if there are at least `count`.
  ///
  /// - Throws: `exhausted` if there are fewer; `log` for numbers that may already have been
  ///   assigned.
  private func reserveNumbers(
    _ size: UInt64, atLeast count: UInt64, _ counter: Int, in log: any SharedLog
  ) throws(StoreError) -> NumberReservation {
    let name = counterName(counter)
    let least = try read { (reader) throws(StoreError) in
      try StoreCounter.read(name, databases.arbor, reader)
    }
    guard Self.left(in: name, from: least) >= count else { throw exhausted(counter) }
    let reserved = try log.reserve(name, size, from: least)
    guard reserved.lowerBound >= least, reserved.upperBound - reserved.lowerBound == size else {
      throw .log(
        ArborError(
          .corrupted,
          "The log reserved the numbers \(reserved.lowerBound)..<\(reserved.upperBound) of "
            + "\(name) instead of \(size) numbers from \(least). Restore the log from a backup of "
            + "the server."))
    }
    let left = Self.left(in: name, from: reserved.lowerBound)
    guard left >= count else { throw exhausted(counter) }
    let numbers = reserved.lowerBound..<reserved.lowerBound + min(size, left)
    // A process that uses the store without its log continues after them.
    try runRedoable { (transaction, _) throws(StoreError) -> Redo in
      try StoreCounter.raise(name, to: numbers.upperBound, databases.arbor, transaction)
      return .sharedLog
    }
    return NumberReservation(counter: counter, numbers: numbers)
  }

  /// Reserves `size` numbers, or the remaining ones if there are at least `count`.
  ///
  /// - Throws: `exhausted` if there are fewer. In that case, the counter is unchanged.
  private func reserveNumbers(
    _ size: UInt64, atLeast count: UInt64, _ counter: Int, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> NumberReservation {
    let name = counterName(counter)
    let first = try StoreCounter.read(name, databases.arbor, transaction.reader)
    let left = Self.left(in: name, from: first)
    guard left >= count else { throw exhausted(counter) }
    let end = first + min(size, left)
    try StoreCounter.write(name, end, databases.arbor, transaction)
    return NumberReservation(counter: counter, numbers: first..<end)
  }

  /// Returns the number of numbers that a counter can still assign. A damaged counter may exceed
  /// the limit.
  private static func left(in name: String, from first: UInt64) -> UInt64 {
    let limit = StoreCounter.limit(name)
    return first > limit ? 0 : limit - first
  }

  private func exhausted(_ counter: Int) -> StoreError {
    guard counter > 0 else {
      return .exhausted("The store has used all 2^63 unique IDs. Create a new store.")
    }
    let entity = schema.entities[counter - 1].name
    return .exhausted("\(entity) has used all 2^40 object numbers. Create a new store.")
  }

  /// Returns the counter of a reservation and its value after the reservation.
  func counter(of reservation: NumberReservation) -> (name: String, value: UInt64) {
    (counterName(reservation.counter), reservation.numbers.upperBound)
  }

  private func counterName(_ counter: Int) -> String {
    guard counter > 0 else { return StoreFormat.uniqueIDCounter }
    return StoreFormat.objectCounter(schema.entities[counter - 1].number)
  }
}
