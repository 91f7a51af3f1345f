internal import ArborModel

/// A scan along an index whose order is the order that was asked for, given up where it takes
/// longer than gathering all rows and sorting them.
final class OrderedAccess {
  let index: IndexReference
  /// In the order of the keys; a single open range for the whole index.
  let ranges: [ScanRange]
  /// Whether the order asked for is that of the keys, or the opposite.
  let isForward: Bool
  /// How many rows it may visit.
  let budget: Int
  /// The conjuncts that hold for all its rows.
  let covered: Set<Int>
  /// The conditions on its leading columns, for the explanation.
  let matches: [ColumnMatch]
  /// The row behind which it goes on: no number up to this one is visited of those with this key.
  let last: (key: [UInt8], number: ObjectNumber)?

  init(
    index: IndexReference, ranges: [ScanRange], isForward: Bool, budget: Int = .max,
    covered: Set<Int>, matches: [ColumnMatch], last: (key: [UInt8], number: ObjectNumber)? = nil
  ) {
    self.index = index
    self.ranges = ranges
    self.isForward = isForward
    self.budget = budget
    self.covered = covered
    self.matches = matches
    self.last = last
  }

  func limited(to budget: Int) -> OrderedAccess {
    OrderedAccess(
      index: index, ranges: ranges, isForward: isForward, budget: budget, covered: covered,
      matches: matches)
  }
}
