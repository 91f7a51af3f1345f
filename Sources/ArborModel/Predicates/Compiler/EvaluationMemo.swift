/// Remembers what code has given of the objects that it depends on alone, for the length of one
/// evaluation.
///
/// It keeps a bounded number of outcomes; beyond it begins anew.
final class EvaluationMemo<Outcome> {
  /// How much is kept: 1 for each outcome, and for each element of a list.
  private static var mostWeight: Int { 1 << 16 }

  private var known: [ObjectNumber: Outcome] = [:]
  private var weight = 0
  private var evaluation: UInt64 = 0

  /// What is known of an object, or else what `make` gives.
  @inline(__always)
  func outcome(
    of number: ObjectNumber, _ resolver: any RecordResolver, weight: (Outcome) -> Int = { _ in 1 },
    _ make: () -> Outcome
  ) -> Outcome {
    if evaluation != resolver.evaluation { begin(resolver.evaluation) }
    if let outcome = known[number] { return outcome }
    let outcome = make()
    self.weight += weight(outcome)
    if self.weight > Self.mostWeight {
      known.removeAll()
      self.weight = weight(outcome)
    }
    if self.weight <= Self.mostWeight { known[number] = outcome }
    return outcome
  }

  private func begin(_ evaluation: UInt64) {
    self.evaluation = evaluation
    known.removeAll()
    weight = 0
  }
}
