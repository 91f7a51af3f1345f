/// The expected contents of the ledger after a number of rounds, in plain dictionaries.
///
/// Every round follows from the seed and its number alone, so the number of committed rounds
/// determines the contents of the whole store. The writer and the verifier both take their rounds
/// from here.
struct LedgerState: Equatable, Sendable {
  /// One side of a transfer.
  struct Posting: Hashable, Sendable {
    let round: Int
    let account: Int
    let amount: Int
    let note: String
  }

  /// The changes of one commit.
  struct Round: Sendable {
    let number: Int
    let source: Int
    let target: Int
    let amount: Int
    let note: String
    /// The label that this round toggles on the source account.
    let label: String
    /// The round whose entries this one deletes.
    let undone: Int?
    /// The account that this round deletes and recreates empty; never the source or the target.
    let replaced: Int?
  }

  static let accountCount = 12
  static let labelCount = 5

  private(set) var round = 0
  private(set) var entries: Set<Posting> = []
  private(set) var labels: [Int: Set<String>] = [:]

  /// Returns the sum of an account's entries.
  func balance(of account: Int) -> Int {
    entries.reduce(0) { $1.account == account ? $0 + $1.amount : $0 }
  }

  /// Creates the state after the first `rounds` commits.
  init(seed: UInt64, rounds: Int) {
    while round < rounds { apply(Self.round(round + 1, seed: seed)) }
  }

  /// Creates the state that a verifier read from a store.
  init(round: Int, entries: Set<Posting>, labels: [Int: Set<String>]) {
    self.round = round
    self.entries = entries
    self.labels = labels
  }

  mutating func apply(_ next: Round) {
    round = next.number
    if let undone = next.undone { entries = entries.filter { $0.round != undone } }
    if let replaced = next.replaced {
      entries = entries.filter { $0.account != replaced }
      labels[replaced] = nil
    }
    for (account, amount) in [(next.source, -next.amount), (next.target, next.amount)] {
      entries.insert(
        Posting(round: next.number, account: account, amount: amount, note: next.note))
    }
    let symmetric = labels[next.source, default: []].symmetricDifference([next.label])
    labels[next.source] = symmetric.isEmpty ? nil : symmetric
  }

  /// Returns the round with a number.
  static func round(_ number: Int, seed: UInt64) -> Round {
    var random = RandomNumbers(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    let accounts = Array(1...accountCount).shuffled(using: &random)
    let letters = (0..<Int.random(in: 0...300, using: &random)).map { _ in
      Character(UnicodeScalar(UInt8.random(in: 97...122, using: &random)))
    }
    return Round(
      number: number, source: accounts[0], target: accounts[1],
      amount: Int.random(in: 1...1000, using: &random), note: String(letters),
      label: "label \(Int.random(in: 1...labelCount, using: &random))",
      undone: number % 3 == 0 ? number - Int.random(in: 1...20, using: &random) : nil,
      replaced: number % 11 == 0 ? accounts[2] : nil)
  }
}

/// Splitmix64, which produces the same numbers from the same seed on every platform.
struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
