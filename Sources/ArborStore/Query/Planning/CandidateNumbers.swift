internal import ArborModel

/// Object numbers among which all rows of a conjunction are: by what they are found, how many they
/// are, and themselves as soon as they have been gathered.
struct CandidateNumbers {
  enum Source {
    case accessPath(AccessCandidate)
    case union([CandidateNumbers])
    case intersection([CandidateNumbers])
    /// Those whose members the related objects are.
    case owners(RelatedRows)
    /// The predicate asks of related objects what none fulfils.
    case unrelated(RelatedRows)
  }

  let source: Source
  let count: RowCount
  /// The conjuncts that hold for all of them.
  let covered: Set<Int>
  /// Whether all of them are stored for certain.
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

  /// The numbers that another list has too.
  func intersection(_ other: CandidateNumbers, _ count: RowCount) -> CandidateNumbers {
    var parts = [self]
    if case .intersection(let inner) = source { parts = inner }
    return CandidateNumbers(
      .intersection(parts + [other]), count, covered: covered.union(other.covered),
      areStored: areStored)
  }

  /// The same, once its numbers are known.
  func gathered(_ numbers: [UInt64], _ source: Source? = nil) -> CandidateNumbers {
    CandidateNumbers(
      source ?? self.source, .gathered(numbers), covered: covered, areStored: areStored)
  }
}
