/// A condition on objects in Core Data's predicate language.
///
/// ```swift
/// let young: FetchPredicate = "age < \(40) AND company.name BEGINSWITH[c] 'foo'"
/// let named = try FetchPredicate(format: "%K == %@", "name", "Mary")
/// let both = young && !named
/// let typed = try FetchPredicate(#Predicate<Employee> { $0.age < 40 })
/// ```
///
/// Interpolated values are constants, never text. If a literal is malformed, the fetch that uses it
/// throws an error with line and column, whereas ``init(format:limits:_:)`` throws immediately.
/// Parsing the same text again costs only a cache lookup.
///
/// Combining predicates with `&&` and `||` takes constant time, so conditions can be combined in a
/// loop. The combined predicate is created when it is first used.
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

  /// The shape and the arguments. Each access counts a reference to the shape, and threads that use
  /// the same text contend for its count.
  package var whole: (shape: ParsedPredicate, arguments: [PropertyValue]) {
    switch form {
    case .whole(let shape, let arguments): (shape, arguments)
    case .joined(let joined): joined.whole
    }
  }

  /// The combination that the predicate consists of, or `nil` if it is not a combination.
  var joined: JoinedPredicate? {
    if case .joined(let joined) = form { joined } else { nil }
  }

  /// The resource limits of operations that evaluate the predicate.
  package var allowance: WorkAllowance { shape.allowance }

  /// The predicate's shape.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the text is malformed.
  package var parsed: ParsedPredicate {
    get throws(ArborError) {
      if case .failure(let error) = shape.outcome { throw error }
      return shape
    }
  }
}

extension FetchPredicate {
  /// Creates an invalid predicate: every fetch that uses it throws the error.
  package init(failing error: ArborError) {
    self.init(
      shape: ParsedPredicate(source: nil, outcome: .failure(error), argumentCount: 0),
      arguments: [])
  }

  /// Creates a predicate from a tree.
  ///
  /// - Parameter arguments: The constants of the tree's `.argument` leaves.
  package init(node: PredicateNode, arguments: [PropertyValue] = []) {
    self.init(
      shape: ParsedPredicate(source: nil, outcome: .success(node), argumentCount: arguments.count),
      arguments: arguments)
  }
}

extension FetchPredicate: Hashable {
  /// Returns whether two predicates have the same structure and constants. Interpolation, white
  /// space, parentheses and the spelling of keywords make no difference.
  public static func == (left: Self, right: Self) -> Bool {
    if left.shape === right.shape { return left.arguments == right.arguments }
    switch (left.resolved, right.resolved) {
    case (.success(let left), .success(let right)): return left == right
    case (.failure, .failure): return left.description == right.description
    default: return false
    }
  }

  /// Hashes the predicate's structure and constants.
  public func hash(into hasher: inout Hasher) {
    switch resolved {
    case .success(let node): hasher.combine(node)
    case .failure: hasher.combine(description)
    }
  }

  /// The tree with its arguments substituted, or the error in the text.
  package var resolved: Result<PredicateNode, ArborError> {
    shape.outcome.map { node in
      node.mapLeaves { leaf in
        guard case .argument(let index) = leaf, index < arguments.count else { return leaf }
        return .constant(arguments[index])
      }
    }
  }
}
