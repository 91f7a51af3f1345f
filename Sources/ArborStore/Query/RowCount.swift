/// How many rows something finds, and how well that is known.
enum RowCount {
  /// The rows' numbers, ascending and different: counting them has read them anyway.
  case gathered([UInt64])
  case exact(Int)
  /// A guess from other counts.
  case estimate(Int)

  var rows: Int {
    switch self {
    case .gathered(let numbers): numbers.count
    case .exact(let rows), .estimate(let rows): rows
    }
  }

  var isExact: Bool {
    if case .estimate = self { false } else { true }
  }

  /// The numbers, where they are known.
  var numbers: [UInt64]? {
    if case .gathered(let numbers) = self { numbers } else { nil }
  }
}
