import ArborObjects

/// A merge policy of a test, and the side of the table of *Merging* that it stands for.
enum TestedPolicy: Hashable {
  case error, automatic(Side), custom(Side)

  /// The columns of the table.
  enum Side: String, CaseIterable { case objectWins, storeWins, overwrite, rollback }

  static let all: [TestedPolicy] =
    [.error]
    + Side.allCases.flatMap { side in
      [TestedPolicy.automatic(side), TestedPolicy.custom(side)]
    }

  var policy: MergePolicy {
    switch self {
    case .error: .error
    case .automatic(.objectWins): .mergeByPropertyObjectWins
    case .automatic(.storeWins): .mergeByPropertyStoreWins
    case .automatic(.overwrite): .overwrite
    case .automatic(.rollback): .rollback
    case .custom(.objectWins): .custom { _ in .objectWins }
    case .custom(.storeWins): .custom { _ in .storeWins }
    case .custom(.overwrite): .custom { _ in .overwrite }
    case .custom(.rollback): .custom { _ in .rollback }
    }
  }

  var side: Side {
    switch self {
    case .error: .objectWins
    case .automatic(let side), .custom(let side): side
    }
  }

  /// Whether changes are merged at the beginning of each operation, rather than by the commit.
  var mergesAtOnce: Bool { if case .automatic = self { true } else { false } }
}
