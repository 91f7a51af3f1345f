internal import ArborModel

/// Object numbers that include all rows of a conjunction: their source, their count and, once
/// gathered, the numbers themselves.
struct CandidateNumbers {
  enum Source {
    case accessPath(AccessCandidate)
    case union([CandidateNumbers])
    case intersection([CandidateNumbers])
    /// The objects that have the related objects as members.
    case owners(RelatedRows)
    /// No related object satisfies the condition, so there are no rows.
    case unrelated(RelatedRows)
  }

  let source: Source
  let count: RowCount
  /// The conjuncts that hold for all of these numbers.
  let covered: Set<Int>
  /// Whether all of these objects are known to be stored.
  let areStored: Bool

  init(_ source: Source, _ count: RowCount, covered: Set<Int>, areStored: Bool = true) {
    self.source = source
    self.count = count
    self.covered = covered
    self.areStored = areStored
  }

  init(_ candidate: AccessCandidate, _ count: RowCount) {
    self.init(
      .accessPath(candidate), count, covered: Set(candidate.covered),
      areStored: candidate.namesStoredObjects)
  }

  /// Returns the intersection with another list.
  func intersection(_ other: CandidateNumbers, _ count: RowCount) -> CandidateNumbers {
    var parts = [self]
    if case .intersection(let inner) = source { parts = inner }
    return CandidateNumbers(
      .intersection(parts + [other]), count, covered: covered.union(other.covered),
      areStored: areStored)
  }

  /// Returns the same list with its gathered numbers.
  func gathered(_ numbers: [UInt64], _ source: Source? = nil) -> CandidateNumbers {
    CandidateNumbers(
      source ?? self.source, .gathered(numbers), covered: covered, areStored: areStored)
  }
}
