internal import ArborModel

/// The counts of a query that is about to run: what has been counted has been gathered, since most
/// of it is read next. Counting and gathering are one scan along the keys.
final class CollectingCounts: StoredCounts {
  /// An access path that has been asked about: planning again after a trial asks the same.
  private struct Known {
    let candidate: AccessCandidate
    let family: [EntitySchema]
    let most: Int
    let effort: Int
    /// nil: there were more, or they cost more.
    let numbers: [UInt64]?

    func answers(
      _ candidate: AccessCandidate, _ family: [EntitySchema], _ most: Int, _ effort: Int
    ) -> Bool {
      guard self.candidate.findsSame(as: candidate),
        self.family.elementsEqual(family, by: { $0 === $1 })
      else { return false }
      return numbers.map { $0.count <= most } ?? (most <= self.most && effort <= self.effort)
    }
  }

  private var known: [Known] = []

  override func count(
    _ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int
  ) throws -> RowCount? {
    if let known = known.first(where: { $0.answers(candidate, family, most, effort) }) {
      return known.numbers.map { .gathered($0) }
    }
    let numbers = try CandidateCollector(source: source, family: family)
      .collect(candidate, atMost: most, effort: effort)
    known.append(
      Known(candidate: candidate, family: family, most: most, effort: effort, numbers: numbers))
    return numbers.map { .gathered($0) }
  }
}
