internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// Numbers that have been reserved in the file.
struct NumberReservation: Sendable {
  /// The counter: 0 for unique IDs, then the entities in order.
  let counter: Int
  let numbers: Range<UInt64>
}

/// Assigns object numbers and unique IDs from blocks that have been reserved in the file.
///
/// A counter in the file contains the first unreserved number. It only increases, and a block is
/// used only once its reservation is durable: no number is assigned twice, even after a crash.
/// Numbers that a process leaves unused are lost.
final class NumberBlocks: Sendable {
  /// The initial size of a reservation. Blocks grow as they are used up.
  static let firstSize: UInt64 = 64
  private static let largestSize: UInt64 = 1 << 20

  private struct Block {
    var next: UInt64 = 0
    var end: UInt64 = 0
    /// The size of the next reservation.
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
  /// Admits one thread at a time that reserves, so that other threads wait for its block instead of
  /// reserving their own.
  let reserving = DispatchSemaphore(value: 1)

  init(_ schema: ModelSchema) {
    blocks = Lock([Block](repeating: Block(), count: schema.entities.count + 1))
  }

  /// Takes numbers from a counter's block, or returns `nil` if it has fewer.
  ///
  /// - Parameter counter: The counter: 0 for unique IDs, then the entities in order.
  func take(_ count: UInt64, of counter: Int) -> Range<UInt64>? {
    blocks.withLock { $0[counter].take(count) }
  }

  /// Takes numbers from a counter's block, which is extended if it has fewer. Called by the thread that
  /// ``reserving`` has admitted.
  ///
  /// - Parameter reserve: Reserves `size` numbers of the counter in the file, or fewer if they suffice.
  func take(
    _ count: UInt64, of counter: Int,
    reserving reserve: (_ size: UInt64) throws(StoreError) -> NumberReservation
  ) throws(StoreError) -> Range<UInt64> {
    while true {
      if let numbers = take(count, of: counter) { return numbers }
      let size = blocks.withLock { blocks -> UInt64 in
        defer { blocks[counter].size = min(blocks[counter].size * 4, Self.largestSize) }
        return blocks[counter].size
      }
      install([try reserve(max(count, size))])
    }
  }

  /// The counters in use whose blocks are running low, each with the size of its next reservation.
  var low: [(counter: Int, size: UInt64)] {
    blocks.withLock { blocks in
      blocks.indices.filter { blocks[$0].end > 0 && blocks[$0].left < blocks[$0].size / 2 }
        .map { (counter: $0, size: blocks[$0].size) }
    }
  }

  /// Adds numbers whose reservation is durable.
  func install(_ reservations: [NumberReservation]) {
    guard !reservations.isEmpty else { return }
    blocks.withLock { blocks in
      for reservation in reservations { blocks[reservation.counter].add(reservation.numbers) }
    }
  }
}
