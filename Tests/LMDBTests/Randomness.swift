import Foundation

/// A pseudorandom number generator with a reproducible sequence (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
    (0..<Int.random(in: count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}

/// The seed of the random tests.
enum RandomTests {
  /// Returns the seed, which `ARBOR_SEED` overrides to replay a run, and prints it.
  static func seed(_ name: String) -> UInt64 {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("\(name): ARBOR_SEED=\(seed)")
    return seed
  }
}
