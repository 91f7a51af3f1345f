/// A condition on objects, written in Core Data's predicate language.
///
/// ```swift
/// let young: FetchPredicate = "age < \(40) AND company.name BEGINSWITH[c] 'foo'"
/// let named = try FetchPredicate(format: "%K == %@", "name", "Mary")
/// let both = young && !named
/// let typed = try FetchPredicate(#Predicate<Employee> { $0.age < 40 })
/// ```
///
/// An interpolated value is a constant, never text. A literal that does not parse throws from the
/// fetch that uses it, with line and column; ``init(format:limits:_:)`` throws at once. Parsing one
/// text again costs a look-up.
///
/// Joining by `&&` and `||` takes constant time, so that a condition may be gathered in a loop:
/// what was joined is put together when it is first used.
public struct FetchPredicate: Sendable {
  private enum Form {
    case whole(ParsedPredicate, [PropertyValue])
    case joined(JoinedPredicate)
  }

  private let form: Form

  package init(shape: ParsedPredicate, arguments: [PropertyValue]) {
    form = .whole(shape, arguments)
  }

  init(_ joined: JoinedPredicate) { form = .joined(joined) }

  package var shape: ParsedPredicate { whole.shape }

  package var arguments: [PropertyValue] { whole.arguments }

  private var whole: (shape: ParsedPredicate, arguments: [PropertyValue]) {
    switch form {
    case .whole(let shape, let arguments): (shape, arguments)
    case .joined(let joined): joined.whole
    }
  }

  /// What the predicate was joined by; nil for one that was not.
  var joined: JoinedPredicate? {
    if case .joined(let joined) = form { joined } else { nil }
  }

  /// What operations that evaluate the predicate may take.
  package var allowance: WorkAllowance { shape.allowance }

  /// The shape, once it is known to be one.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the text does not parse.
  package var parsed: ParsedPredicate {
    get throws(ArborError) {
      if case .failure(let error) = shape.outcome { throw error }
      return shape
    }
  }
}

extension FetchPredicate {
  /// A predicate that there is not: every fetch that uses it throws the reason.
  package init(failing error: ArborError) {
    self.init(
      shape: ParsedPredicate(source: nil, outcome: .failure(error), argumentCount: 0),
      arguments: [])
  }

  /// A predicate from a tree.
  ///
  /// - Parameter arguments: The constants of the tree's `.argument`s.
  package init(node: PredicateNode, arguments: [PropertyValue] = []) {
    self.init(
      shape: ParsedPredicate(source: nil, outcome: .success(node), argumentCount: arguments.count),
      arguments: arguments)
  }
}

extension FetchPredicate: Hashable {
  /// Whether two predicates say the same in the same words: constants may be written or
  /// interpolated, blanks, parentheses and the spelling of keywords are free.
  public static func == (left: Self, right: Self) -> Bool {
    if left.shape === right.shape { return left.arguments == right.arguments }
    switch (left.resolved, right.resolved) {
    case (.success(let left), .success(let right)): return left == right
    case (.failure, .failure): return left.description == right.description
    default: return false
    }
  }

  /// Feeds what the predicate says into a hasher.
  public func hash(into hasher: inout Hasher) {
    switch resolved {
    case .success(let node): hasher.combine(node)
    case .failure: hasher.combine(description)
    }
  }

  /// The tree with its arguments put in as constants.
  package var resolved: Result<PredicateNode, ArborError> {
    shape.outcome.map { node in
      node.mapLeaves { leaf in
        guard case .argument(let index) = leaf, index < arguments.count else { return leaf }
        return .constant(arguments[index])
      }
    }
  }
}
