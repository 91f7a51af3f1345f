internal import ArborLocks

/// The shape of a predicate: its text, parsed once for all values of its constants.
///
/// Shapes are shared: predicates with the same text and different interpolated values have the same
/// shape. Data derived from a shape alone, such as its binding to an entity, is cached in it.
package final class ParsedPredicate: Sendable {
  /// The original text of a shape, and how to parse it. A class, because the cache compares it in
  /// every look-up, and copies of the limits are expensive.
  package final class Source: Sendable {
    package let text: PredicateText
    package let isFormat: Bool
    package let limits: PredicateLimits

    init(text: PredicateText, isFormat: Bool, limits: PredicateLimits) {
      self.text = text
      self.isFormat = isFormat
      self.limits = limits
    }

    fileprivate func equals(
      _ segments: PredicateSegments, _ isFormat: Bool, _ limits: PredicateLimits
    ) -> Bool {
      self.isFormat == isFormat && self.limits == limits && segments.matches(text)
    }
  }

  package enum Composition: Sendable, Hashable {
    case and, or, not
  }

  package let source: Source?
  /// The tree, or the error in the text.
  package let outcome: Result<PredicateNode, ArborError>
  /// The number of arguments for the tree's `.argument` leaves.
  package let argumentCount: Int
  /// The names of the tree's `$variables`, sorted.
  package let variables: [String]
  /// The names of the variables that the tree assigns.
  let assigned: [String]
  package let allowance: WorkAllowance
  /// The reserved words that the text uses as constants.
  let constants: [PredicateConstantWord]
  /// The indexes of the arguments that are key paths (`%K`).
  package let pathArguments: [Int]

  /// The first binding of the shape, usually the only one. It is read without a lock.
  ///
  /// Memory safety: it is set at most once, retained, and released only with the shape.
  private let firstBinding = Atomic<Unmanaged<BoundPredicate>?>(nil)
  /// The most recent further bindings of the shape, such as those to other entities.
  private let bindings = Lock<[BoundPredicate]>([])
  let derivations = Lock<[[String]: ParsedPredicate]>([:])

  /// Creates a shape.
  ///
  /// - Parameter isOpen: Whether the tree may contain variables or `%K`s, so that it must be
  ///   searched for them.
  convenience package init(
    source: Source?, outcome: Result<PredicateNode, ArborError>, argumentCount: Int,
    isOpen: Bool = true, allowance: WorkAllowance = WorkAllowance()
  ) {
    self.init(
      source: source, outcome: outcome, argumentCount: argumentCount, isOpen: isOpen,
      allowance: allowance, constants: [])
  }

  init(
    source: Source?, outcome: Result<PredicateNode, ArborError>, argumentCount: Int,
    isOpen: Bool = true, allowance: WorkAllowance = WorkAllowance(),
    constants: [PredicateConstantWord]
  ) {
    self.constants = constants
    self.source = source
    self.outcome = outcome
    self.argumentCount = argumentCount
    self.allowance = source.map { allowance.narrowed(by: $0.limits.allowance) } ?? allowance
    var open = OpenLeaves()
    if isOpen, case .success(let node) = outcome { open.visit(node) }
    variables = open.variables.sorted()
    assigned = open.bound
    pathArguments = open.pathArguments.sorted()
  }

  deinit { firstBinding.load(ordering: .acquiring)?.release() }
}

extension ParsedPredicate {
  /// The maximum number of bindings that a shape caches besides the first.
  private static let keptBindings = 8

  /// Returns the binding to an entity if it is cached.
  func binding(to entity: EntitySchema) -> BoundPredicate? {
    if let first = firstBinding.load(ordering: .acquiring)?.takeUnretainedValue(),
      first.entity === entity
    {
      return first
    }
    return bindings.withLock { bindings in bindings.first { $0.entity === entity } }
  }

  /// Caches a binding.
  func keep(_ binding: BoundPredicate) {
    let reference = Unmanaged.passRetained(binding)
    let isFirst = firstBinding.compareExchange(
      expected: nil, desired: reference, ordering: .acquiringAndReleasing
    ).exchanged
    if isFirst { return }
    reference.release()
    bindings.withLock { bindings in
      if bindings.count >= Self.keptBindings { bindings.removeFirst() }
      bindings.append(binding)
    }
  }

  /// Returns whether the shape is that of a text.
  func isParsed(
    from segments: PredicateSegments, _ isFormat: Bool, _ limits: PredicateLimits
  ) -> Bool {
    source?.equals(segments, isFormat, limits) ?? false
  }

  /// Parses a predicate, bypassing the cache of shapes.
  package static func reading(
    _ text: String, limits: PredicateLimits = .standard
  ) -> ParsedPredicate {
    PredicateParser.parse(
      PredicateText(segments: [text], allowed: limits.allowedProperties), isFormat: false,
      limits: limits)
  }
}
