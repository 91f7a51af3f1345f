internal import ArborModel

/// Counts the rows that a query asks its conditions of.
final class RowTally {
  private(set) var visited = 0
  private(set) var accepted = 0

  /// Begins to count anew: a scan that was given up does not count.
  func begin() {
    visited = 0
    accepted = 0
  }

  /// A predicate that counts, or what lets all rows pass and counts them.
  func counting(_ predicate: CompiledPredicate?) -> CompiledPredicate {
    { [self] record, number, resolver in
      visited += 1
      guard predicate?(record, number, resolver) ?? true else { return false }
      accepted += 1
      return true
    }
  }
}
