internal import ArborLocks

/// The orders that fetches of one entity ask for, their key paths resolved once.
package final class BoundOrders: Sendable {
  /// How many orders are kept; the oldest goes first.
  private static let capacity = 16

  private let known = Lock<[(keys: [SortKey], bound: [BoundSortKey])]>([])

  package init() {}

  subscript(keys: [SortKey]) -> [BoundSortKey]? {
    known.withLock { known in known.first { $0.keys == keys }?.bound }
  }

  func keep(_ keys: [SortKey], _ bound: [BoundSortKey]) {
    known.withLock { known in
      if known.count >= Self.capacity { known.removeFirst() }
      known.append((keys, bound))
    }
  }
}
